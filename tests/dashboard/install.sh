#!/usr/bin/env bash
# Installs what `npm run suite dashboard` needs on Debian, as root: Chromium, and the font of the screenshots. If both
# are installed, does and prints nothing.
set -euo pipefail

if command -v chromium >/dev/null && [ -e /usr/share/doc/fonts-inter ]; then exit 0; fi
packages=(chromium fonts-inter fonts-dejavu-core)
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  printf 'tests/dashboard needs chromium.\nThere is no apt-get here, or no right to use it. Debian has it in: %s\n' "${packages[*]}" >&2
  exit 1
fi
printf 'tests/dashboard: installing %s\n' "${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
wait_for_lock=(-o DPkg::Lock::Timeout=300)
apt-get "${wait_for_lock[@]}" update -qq
apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
