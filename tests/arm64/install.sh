#!/usr/bin/env bash
# Installs the packages that `npm run suite arm64` needs besides Rust and Node, on Debian, as root. If all of them are
# installed, does and prints nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../validator/host/install.sh" arm64
[ "$(uname -m)" = aarch64 ] || command -v qemu-aarch64-static >/dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  printf 'tests/arm64 needs qemu-aarch64-static.\nHere is no apt-get, or no right to use it. Debian has it in: qemu-user-static\n' >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
wait_for_lock=(-o DPkg::Lock::Timeout=300)
apt-get "${wait_for_lock[@]}" update -qq
apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends qemu-user-static >/dev/null
