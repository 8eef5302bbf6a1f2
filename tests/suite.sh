#!/usr/bin/env bash
# usage: npm run suite NAME [-- OPTIONS]
#
# The suites beside `npm test`. tests/README.md says what each needs: most need root.
#   alerts attack [--nightly] arm64 chart cluster [FILE ...] dashboard image netns node package tenants [--nightly] yaml
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1-}
size=${2-}
# SECONDS FILE ...: runs the test files one after another, each for at most SECONDS
in_turn() { local seconds=$1 && shift && exec node --test --test-concurrency=1 "--test-timeout=${seconds}000" "$@"; }
# does the same with a control plane
in_cluster() {
  local seconds=$1 && shift
  exec node tests/cluster/run.ts node --test --test-concurrency=1 "--test-timeout=${seconds}000" "$@"
}

case $name in
  alerts | yaml) exec node --test tests/"$name"/*.test.ts ;;
  arm64)
    npm run build:checks
    mkdir -p dist/host-arm64 && bash validator/host/build.sh dist/host-arm64 arm64
    CNI_GATE_TEST_HOST=$(tests/arm64/command.sh)
    export CNI_GATE_TEST_HOST
    exec node --test tests/arm64/*.test.ts tests/netns/program.test.ts
    ;;
  attack)
    if [ "$size" = --nightly ]; then
      export CNI_GATE_ATTACK_SECONDS=30 CNI_GATE_ATTACK_CONNECTIONS=8500 CNI_GATE_FUZZ_COUNT=1000000
      in_turn 7200 tests/attack/*.test.ts
    fi
    in_turn 240 tests/attack/*.test.ts
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
    node tests/netns/harness/check-machine.ts
    npm run build:host
    # runs alone, because it measures; the other files mostly wait for time-outs, in their own namespaces
    code=0
    node --test --test-timeout=300000 tests/netns/many-pods.test.ts || code=1
    files=$(ls tests/netns/*.test.ts | grep -v many-pods)
    node --test --test-concurrency=4 --test-timeout=300000 $files || code=1
    exit "$code"
    ;;
  node)
    exec setpriv --pdeathsig=TERM node tests/node/run.ts node --test --test-concurrency=1 --test-timeout=1200000 \
      tests/node/*.test.ts
    ;;
  package) exec node --test --test-concurrency=1 tests/package/*.test.ts ;;
  tenants)
    if [ "$size" = --nightly ]; then
      export CNI_GATE_ATTACK_SIZE=nightly
      in_cluster 2400 tests/attack/tenants/tenants.test.ts
    fi
    in_cluster 480 tests/attack/tenants/tenants.test.ts
    ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
