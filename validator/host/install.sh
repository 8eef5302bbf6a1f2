#!/usr/bin/env bash
# Installs what `npm run build:host` needs besides Rust, on Debian or Ubuntu, as root; says nothing and is done at once
# if it is there.
set -euo pipefail
command -v musl-gcc >/dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  printf 'The validator'\''s host needs musl-gcc.\nHere is no apt-get, or no right to use it. Debian has it in: musl-tools\n' >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
wait_for_lock=(-o DPkg::Lock::Timeout=300)
apt-get "${wait_for_lock[@]}" update -qq
apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends musl-tools >/dev/null
