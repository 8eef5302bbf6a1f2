#!/usr/bin/env bash
# Installs the shells in which `npm test` tries the completion scripts, on Debian or Ubuntu, as root; says nothing and is
# done at once if they are there.
set -euo pipefail
[ "$(command -v bash zsh fish script | wc -l)" -eq 4 ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  printf 'The tests of completion need zsh and fish.\nHere is no apt-get, or no right to use it. Debian has them in: zsh fish\n' >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
wait_for_lock=(-o DPkg::Lock::Timeout=300)
apt-get "${wait_for_lock[@]}" update -qq
apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends zsh fish bsdutils >/dev/null
