#!/usr/bin/env bash
# usage: npm run bench [create|requests|scale|validator] [-- OPTIONS]
#
# Builds what the bench needs, and runs the bench. The default is `requests`.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=requests
case ${1-} in [a-z]*) name=$1 && shift ;; esac

case $name in
  create) exec node tests/cluster/run.ts node tests/bench/create.ts "$@" ;;
  requests) exec node tests/bench/bench.ts "$@" ;;
  scale) npm run build && exec node tests/bench/scale.ts "$@" ;;
  validator) npm run build:host && exec node tests/bench/validator.ts "$@" ;;
  *) echo "There is no bench $name. Choose create, requests, scale or validator." >&2 && exit 2 ;;
esac
