#!/usr/bin/env bash
# usage: npm run suite NAME [-- OPTIONS]
#
# The suites besides `npm test`. tests/README.md says what each needs: most need root.
#   alerts attack [--nightly] arm64 calico chart cluster [FILE ...] dashboard image netns node [FILE ...] package yaml
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1-}
size=${2-}
# SECONDS FILE ...: runs the test files one after another, each for at most SECONDS
in_turn() { local seconds=$1 && shift && exec node --test --test-concurrency=1 "--test-timeout=${seconds}000" "$@"; }
# COUNT SECONDS FILE ...: runs COUNT files at the same time, and prints the output of each at its end. Then runs the
# failed files again, one after another: on a busy machine a deadline can pass, but a real fault fails twice.
twice() {
  local count=$1 seconds=$2 failed again=0
  shift 2
  failed=$(mktemp -d)
  export failed
  one() {
    local output code=0
    output=$(node --test "--test-timeout=${1}000" "$2" 2>&1) || code=1
    printf '== %s\n%s\n' "$2" "$output"
    [ "$code" -eq 0 ] || touch "$failed/$(basename "$2")"
  }
  export -f one
  printf '%s\n' "$@" | xargs -P "$count" -I{} bash -c "one $seconds {}" || return 1
  [ -n "$(ls "$failed")" ] || return 0
  printf '\n== run again, because they failed:\n'
  for file in "$@"; do
    [ -e "$failed/$(basename "$file")" ] || continue
    node --test "--test-timeout=${seconds}000" "$file" || again=1
  done
  return "$again"
}

case $name in
  alerts | yaml) exec node --test tests/"$name"/*.test.ts ;;
  arm64)
    npm run build:checks
    mkdir -p dist/host-arm64 && bash validator/host/build.sh dist/host-arm64 arm64
    CNI_GATE_TEST_HOST=$(tests/arm64/command.sh)
    export CNI_GATE_TEST_HOST
    exec node --test tests/netns/program.test.ts
    ;;
  attack)
    if [ "$size" = --nightly ]; then
      export CNI_GATE_ATTACK_SECONDS=30 CNI_GATE_ATTACK_CONNECTIONS=8500 CNI_GATE_FUZZ_COUNT=1000000
      in_turn 7200 tests/attack/*.test.ts
    fi
    twice 1 240 tests/attack/*.test.ts
    ;;
  calico)
    npm run build:host
    CALICO_PROGRAMS=$(mktemp -d)
    trap 'rm -r "$CALICO_PROGRAMS"' EXIT
    # builds a copy, because -mod=mod writes into go.mod; go.sum has the sums that Go's checksum database lacks
    cp -r tests/calico/{go.mod,go.sum,none} "$CALICO_PROGRAMS"
    go -C "$CALICO_PROGRAMS" build -mod=mod -trimpath -o "$CALICO_PROGRAMS/" tool
    cp "$CALICO_PROGRAMS"/calico{,-ipam}
    CALICO_SOURCE=$(go -C "$CALICO_PROGRAMS" list -m -f '{{.Dir}}' github.com/projectcalico/calico)
    export CALICO_PROGRAMS CALICO_SOURCE
    node tests/cluster/run.ts node --test --test-timeout=120000 tests/calico/calico.test.ts
    ;;
  chart) node tests/chart/programs.ts && exec node tests/cluster/suite/main.ts tests/chart/*.test.ts ;;
  cluster) shift && exec node tests/cluster/suite/main.ts "$@" ;;
  dashboard) in_turn 180 tests/dashboard/*.test.ts ;;
  image)
    # on a new machine, builds the control plane first, because that takes minutes and would exceed a test's time
    node tests/cluster/run.ts true
    exec setpriv --pdeathsig=TERM node tests/image/run.ts node --test --test-concurrency=1 --test-timeout=600000 \
      tests/image/validator.test.ts tests/image/image.test.ts tests/image/compose.test.ts
    ;;
  netns)
    npm run build:host
    # runs alone, because it measures; the other files mostly wait for time-outs, in their own namespaces
    code=0
    twice 1 300 tests/netns/many-pods.test.ts || code=1
    # the files that take longest begin first
    long=(tests/netns/{proof-table,networks,continuous,false-alarms}.test.ts)
    twice 4 300 $(printf '%s\n' "${long[@]}" tests/netns/*.test.ts | grep -v many-pods | awk '!seen[$0]++') || code=1
    exit "$code"
    ;;
  node)
    shift
    [ $# -gt 0 ] || set -- tests/node/*.test.ts
    exec setpriv --pdeathsig=TERM node tests/node/run.ts node --test --test-concurrency=1 --test-timeout=1200000 "$@"
    ;;
  package)
    # without shellcheck and pyflakes, because the result would depend on whether the machine has them
    go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=
    exec node --test --test-concurrency=1 tests/package/*.test.ts
    ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
