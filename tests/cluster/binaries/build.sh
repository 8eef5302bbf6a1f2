#!/usr/bin/env bash
# Builds the programs into a folder that does not exist yet. ensure.ts runs it, one at a time.
#
# usage: build.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")"
folder=$1
# another run may have built them while this one waited for its turn
[ ! -d "$folder" ] || exit 0
# what a build that was killed left behind
rm -rf "$folder".new-*
new=$(mktemp -d "$folder.new-XXXXXX")
trap 'rm -rf "$new"' EXIT
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${version#v}"
stamp="-X k8s.io/component-base/version.git"
echo "Building Kubernetes $version from Go modules, once: about 5 minutes on two cores." >&2
CGO_ENABLED=0 go build -trimpath -o "$new/" \
  -ldflags="-s -w ${stamp}Version=$version ${stamp}Major=$major ${stamp}Minor=$minor ${stamp}TreeState=clean" tool
# Go names a program by the last part of its package's path
mv "$new/server" "$new/etcd"
chmod 755 "$new"
mv "$new" "$folder"
