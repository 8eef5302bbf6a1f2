#!/usr/bin/env bash
# Installs, as root, what validator/host/build.sh needs besides Rust. If nothing is missing, exits immediately and
# prints nothing.
#
# usage: install.sh [amd64|arm64]
#
# The argument is the architecture for which to build. By default, it is that of this machine, for which Debian and
# Ubuntu have packages. For the other architecture, musl's headers are packages of that architecture, so the script adds
# it to dpkg's architectures. Only Debian has both architectures on one mirror.
set -euo pipefail
machine() { case $(uname -m) in x86_64) echo amd64 ;; aarch64) echo arm64 ;; *) uname -m ;; esac; }
architecture=${1:-$(machine)}

if [ "$architecture" = "$(machine)" ]; then
  compiler=musl-gcc
  packages=(musl-tools)
else
  case $architecture in
    amd64) cpu=x86_64 ;;
    arm64) cpu=aarch64 ;;
    *) printf 'install.sh supports amd64 and arm64, but not %s.\n' "$architecture" >&2; exit 64 ;;
  esac
  compiler=$cpu-linux-musl-gcc
  packages=("gcc-${cpu/_/-}-linux-gnu" "musl-dev:$architecture")
fi

command -v "$compiler" >/dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  printf 'The validator'\''s host needs %s.\nThere is no apt-get here, or no right to use it. Debian has it in: %s\n' \
    "$compiler" "${packages[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
wait_for_lock=(-o DPkg::Lock::Timeout=300)
[ "$architecture" = "$(machine)" ] || dpkg --add-architecture "$architecture"
apt-get "${wait_for_lock[@]}" update -qq
apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
