#!/bin/sh
# Runs a command as a container is run: in a root of its own, as a user of its own who can become no other.
# Needs mount and PID namespaces of its own: see container.ts.
#
# usage: enter.sh ROOT ro|rw UID [SOURCE=TARGET[=rw] ...] -- COMMAND [ARGUMENT ...]
set -eu
root=$1 mode=$2 uid=$3
shift 3

mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  source=${1%%=*} target=${1#*=}
  access=ro
  case $target in *=rw) access=rw target=${target%=rw} ;; esac
  target=$root/$target
  if [ -d "$source" ]; then
    mkdir -p "$target"
  else
    mkdir -p "${target%/*}"
    touch "$target"
  fi
  mount --rbind "$source" "$target"
  mount -o "remount,bind,$access" "$target"
  shift
done
shift
mkdir -p "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o "remount,bind,$mode" "$root"
# no exec: the kernel forgets whose end ends a process when that becomes another user, and this one stays root
setpriv --no-new-privs -- chroot --userspec="$uid:$uid" --groups= "$root" "$@"
