#!/usr/bin/env bash
# Prints the command that runs the validator for arm64: the program itself on arm64, elsewhere QEMU with the program.
set -euo pipefail
[ "$(uname -m)" = aarch64 ] || printf 'qemu-aarch64-static '
printf '%s/dist/host-arm64/cni-gate-validator\n' "$(cd "$(dirname "$0")/../.." && pwd)"
