#!/usr/bin/env bash
# usage: npm run bench [requests|peers|create|scale|validator] [-- OPTIONS]
#
# Builds what a bench needs, and runs it: by default requests.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=requests
case ${1-} in [a-z]*) name=$1 && shift ;; esac

peer() {
  CGO_ENABLED=0 go build -C tests/bench/peers -trimpath -ldflags='-s -w' -o ../../../node_modules/.cache/cni-gate-peer .
}

case $name in
  requests) exec node tests/bench/bench.ts "$@" ;;
  peers) npm run build && peer && exec node tests/bench/peers.ts "$@" ;;
  create) peer && exec node tests/cluster/run.ts node tests/cluster/bench/create.ts "$@" ;;
  scale) npm run build && exec node tests/bench/scale.ts "$@" ;;
  validator) npm run build:host && exec node tests/bench/validator.ts "$@" ;;
  *) echo "There is no bench $name. Name requests, peers, create, scale or validator." >&2 && exit 2 ;;
esac
