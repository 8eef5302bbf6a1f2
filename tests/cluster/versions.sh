#!/usr/bin/env bash
# Runs tests with another version of Kubernetes: by default, those test files that a change of Kubernetes could break
# (injection, policies, rights, gate, certificates and status). Needs Linux, root and Go.
#
# usage: tests/cluster/versions.sh VERSION [TEST ...]      such as v1.30.14; TEST is a file of tests/cluster/
#
# Builds the control plane's programs of that version from their Go modules, once: four minutes on two cores. The
# programs are kept in ~/.cache/cni-gate (or CNI_GATE_CACHE). etcd and kwok are those of the other tests.
# docs/reference/support.md lists the results.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [[ ! ${1:-} =~ ^v1\.[0-9]+\.[0-9]+$ ]]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 64
fi
version=$1
shift
programs=(kube-apiserver kube-controller-manager kube-scheduler kubectl)
tests=("$@")
if [ ${#tests[@]} -eq 0 ]; then
  tests=(
    namespaces manifests-strict manifests-permissive manifests-certificates
    manifests-components manifests-policy-account manifests-policy-pods
    gate lease manifests-namespaces certificates
  )
fi
cache=${CNI_GATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cni-gate}
folder=$cache/kubernetes-$version-$(go env GOVERSION)

build() {
  local module new minor=${version#v1.}
  mkdir -p "$cache"
  module=$(mktemp -d "$cache/module.XXXXXX")
  new=$(mktemp -d "$folder.new-XXXXXX")
  # $module and $new are local to the function, so the trap expands them now
  # shellcheck disable=SC2064
  trap "rm -rf '$module' '$new'" EXIT
  {
    printf 'module versions\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes %s\n\ntool (\n' "$version"
    printf '\tk8s.io/kubernetes/cmd/%s\n' "${programs[@]}"
    printf ')\n'
    # The modules that Kubernetes publishes from its staging folder have the same minor and patch version. The go.mod of
    # Kubernetes replaces each with its folder, but Go applies only the replacements of the main module.
    sed -nE 's#^[[:space:]]*(k8s\.io/[a-z-]+) (v0\.0\.0$|=> \./staging.*)#\1#p' \
      "$(cd "$module" && go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')" |
      sort -u | while read -r name; do printf 'replace %s => %s v0.%s\n' "$name" "$name" "$minor"; done
  } >"$module/go.mod"
  go -C "$module" mod tidy
  local stamp=k8s.io/component-base/version
  CGO_ENABLED=0 go -C "$module" build -trimpath -o "$new/" -ldflags="-s -w -X $stamp.gitVersion=$version \
    -X $stamp.gitMajor=1 -X $stamp.gitMinor=${minor%%.*} -X $stamp.gitTreeState=clean" tool
  mv "$new" "$folder"
  rm -rf "$module"
}

[ -x "$folder/kube-apiserver" ] || build
export KUBEBUILDER_ASSETS=$folder
exec npx node tests/cluster/run.ts node --test --test-concurrency=1 --test-timeout=480000 \
  $(printf 'tests/cluster/%s.test.ts ' "${tests[@]}")
