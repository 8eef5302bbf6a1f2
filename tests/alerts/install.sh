#!/usr/bin/env bash
# Puts `promtool`, which `npm run suite alerts` needs, into the cache. It takes only this program from the package
# `prometheus` of Debian or Ubuntu: an installed package would start a server. Does nothing if promtool exists.
#
# usage: install.sh
set -euo pipefail
cache=${CNI_GATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cni-gate}
promtool=$cache/promtool-$(uname -m)

[ -x "$promtool" ] && exit 0
if ! command -v apt-get >/dev/null; then
  printf 'tests/alerts needs %s, and there is no apt-get to install it.\n' "$promtool" >&2
  exit 1
fi
mkdir -p "$cache"
unfinished=$(mktemp -d "$cache/promtool.new-XXXXXX")
trap 'rm -rf "$unfinished"' EXIT
download() { (cd "$unfinished" && apt-get download -qq prometheus); }
# apt-get cannot download a package without package lists, and only root may update the lists
if ! download 2>"$unfinished/log" && [ "$(id -u)" -eq 0 ]; then
  apt-get -o DPkg::Lock::Timeout=300 update -qq
  download 2>"$unfinished/log" || true
fi
if ! compgen -G "$unfinished/*.deb" >/dev/null; then
  cat "$unfinished/log" >&2
  echo 'tests/alerts: the package prometheus cannot be downloaded. As root, "apt-get update" may help' >&2
  exit 1
fi
dpkg-deb --fsys-tarfile "$unfinished"/*.deb | tar -x -C "$unfinished" ./usr/bin/promtool
mv "$unfinished/usr/bin/promtool" "$promtool"
