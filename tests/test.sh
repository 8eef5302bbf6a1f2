#!/usr/bin/env bash
# usage: npm test
#
# Runs the tests that need neither root nor a network. Each folder runs in one process, which loads the sources once.
# Each file has its own process in tests/unit/validator, because each first replaces the validator's host, and in
# tests/server, because they mostly wait for time limits. The folders that take longest start first.
set -euo pipefail
cd "$(dirname "$0")/.."
export NODE_COMPILE_CACHE=node_modules/.cache/node

# prints the output of a folder's tests when they have ended
folder() {
  local isolation=none code=0 output
  case $1 in tests/server | tests/unit/validator) isolation=process ;; esac
  output=$(find "$1" -name '*.test.ts' -exec node --test "--test-isolation=$isolation" --test-concurrency=4 --test-timeout=300000 \
    --test-reporter=dot {} + 2>&1) || code=1
  printf '%s (%d s)\n%s\n' "$1" "$SECONDS" "$output"
  return "$code"
}
export -f folder

# one process more than there are cores, because the tests of server and leader mostly wait
printf '%s\n' tests/{server,unit/leader,simulation,unit/cluster,unit/report,unit/certs,unit/admission} tests/{review,golden,unit/*} |
  awk '!seen[$0]++' | xargs -P $(($(nproc) + 1)) -I{} bash -c 'folder {}'
