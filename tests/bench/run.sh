#!/usr/bin/env bash
# usage: npm run bench [requests|scale|validator] [-- OPTIONS]
#
# Builds what the bench needs, and runs the bench. The default is `requests`.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=requests
case ${1-} in [a-z]*) name=$1 && shift ;; esac

case $name in
  requests) exec node tests/bench/bench.ts "$@" ;;
  scale) npm run build && exec node tests/bench/scale.ts "$@" ;;
  validator) npm run build:host && exec node tests/bench/validator.ts "$@" ;;
  *) echo "There is no bench $name. Name requests, scale or validator." >&2 && exit 2 ;;
esac
