#!/usr/bin/env bash
# Installs what `npm run suite image` needs, on Debian or Ubuntu, as root: a Docker engine with its command line, a
# user-mode network and debootstrap from the distribution, the compose plugin from its Go module, and a Debian root
# file system for the stand-ins of images. The last two are stored in the cache. Does nothing if all of it is there.
#
# usage: install.sh [--check]
#
# With --check, installs nothing, and fails with a list of what is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/cache.sh"
source "$here/../support/apt.sh"

join() { local text; printf -v text '%s, ' "$@"; printf '%s' "${text%, }"; }

missing=()
# only the packages of missing commands: installing Debian's Docker would remove Docker's own packages
packages=()
need() {
  command -v "$1" >/dev/null && return
  missing+=("$1")
  packages+=("${@:2}")
}
need dockerd docker.io
need docker docker.io
need slirp4netns slirp4netns
need debootstrap debootstrap debian-archive-keyring
need iptables iptables
need ip iproute2
# the stand-in of Rust's image needs this target; rustup adds it, because a distribution's Rust may be too old
target="$(uname -m)-unknown-linux-musl"
has_target() { [ -d "$(rustc --print target-libdir --target "$target" 2>/dev/null)" ]; }
[ "${1:-}" = --check ] || has_target || { command -v rustup >/dev/null && rustup target add "$target" >&2; } || true
if ! has_target; then
  printf 'NOT RUN: tests/image needs Rust 1.88 or later with the target %s: https://rustup.rs\n' "$target" >&2
  exit 1
fi
if [ "${1:-}" = --check ]; then
  [ -x "$compose_plugin" ] || missing+=("docker compose in $compose_plugin")
  [ -e "$debian" ] || missing+=("$debian")
  [ ${#missing[@]} -eq 0 ] && exit 0
  printf 'NOT RUN: tests/image needs %s.\nAs root on Debian or Ubuntu: tests/image/install.sh\n' "$(join "${missing[@]}")" >&2
  exit 1
fi

[ ${#missing[@]} -eq 0 ] || apt_install tests/image "$(join "${missing[@]}")" "${packages[@]}"

mkdir -p "$cache"
# one installation at a time; files get their final names when they are complete
exec {lock}>"$cache/image.lock"
flock "$lock"
clean_up() { rm -rf "$cache"/docker-compose.new-* "$cache"/debian.new-*; }
trap clean_up EXIT
# removes what a killed installation left behind
clean_up

if ! [ -x "$compose_plugin" ]; then
  echo 'tests/image: building docker compose from its Go module, once: about 3 minutes on two cores'
  unfinished=$(mktemp -d "$cache/docker-compose.new-XXXXXX")
  package=github.com/docker/compose/v2
  version=$(go -C "$here/compose" list -m -f '{{.Version}}' "$package")
  CGO_ENABLED=0 go -C "$here/compose" build -trimpath -ldflags "-s -w -X $package/internal.Version=$version" \
    -o "$unfinished/docker-compose" "$package/cmd"
  mv "$unfinished/docker-compose" "$compose_plugin"
fi

if ! [ -e "$debian" ]; then
  echo 'tests/image: unpacking Debian, once: about 20 seconds'
  unfinished=$(mktemp -d "$cache/debian.new-XXXXXX")
  # the stand-in of Rust's image needs the compiler
  debootstrap --variant=minbase --include=gcc,libc6-dev,musl-tools bookworm "$unfinished/tree" >"$unfinished/log" 2>&1 ||
    { tail -n 20 "$unfinished/log" >&2; exit 1; }
  rm -rf "$unfinished/tree/var/cache/apt" "$unfinished/tree/var/lib/apt/lists"
  tar -C "$unfinished/tree" -cf "$unfinished/debian.tar" --exclude='./dev/*' .
  mv "$unfinished/debian.tar" "$debian"
fi
