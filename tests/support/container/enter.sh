#!/bin/sh
# Runs a command as the kubelet would run a container: process 1 of a root of its own that cannot be written, as a
# user who is not root and cannot become it. Needs mount and PID namespaces of its own: see container.ts.
#
# usage: enter.sh ROOT UID [SOURCE=TARGET ...] -- COMMAND [ARGUMENT ...]
set -eu
root=$1 uid=$2
shift 2

mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  source=${1%%=*} target=$root/${1#*=}
  if [ -d "$source" ]; then
    mkdir -p "$target"
  else
    mkdir -p "${target%/*}"
    touch "$target"
  fi
  mount --rbind "$source" "$target"
  mount -o remount,bind,ro "$target"
  shift
done
shift
mkdir -p "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs -- chroot --userspec="$uid:$uid" --groups= "$root" "$@"
