#!/usr/bin/env bash
# usage: npm test
#
# The tests that need no root and no network. A folder is one process, which loads the sources once; those of the
# validator replace its host before they load it, so each of its files has a process. The longest folders come first.
set -euo pipefail
cd "$(dirname "$0")/.."
export NODE_COMPILE_CACHE=node_modules/.cache/node

# prints what a folder's tests say when they end
folder() {
  local isolation=none code=0 output
  [ "$1" = tests/unit/validator ] && isolation=process
  output=$(find "$1" -name '*.test.ts' -exec node --test "--test-isolation=$isolation" --test-timeout=300000 \
    --test-reporter=dot {} + 2>&1) || code=1
  printf '%s (%d s)\n%s\n' "$1" "$SECONDS" "$output"
  return "$code"
}
export -f folder

# one more than there are cores: those of the server and of the leader mostly wait
printf '%s\n' tests/{server,unit/leader,simulation,unit/cluster,unit/report,unit/certs,unit/admission} tests/{review,golden,unit/*} |
  awk '!seen[$0]++' | xargs -P $(($(nproc) + 1)) -I{} bash -c 'folder {}'
