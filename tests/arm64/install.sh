#!/usr/bin/env bash
# Installs the packages that `npm run suite arm64` needs besides Rust and Node, on Debian, as root. If all of them are
# installed, does and prints nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../support/apt.sh"
"$here/../../validator/host/install.sh" arm64
[ "$(uname -m)" = aarch64 ] || command -v qemu-aarch64-static >/dev/null && exit 0
apt_install tests/arm64 qemu-aarch64-static qemu-user-static
