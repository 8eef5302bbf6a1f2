#!/bin/sh
# Runs a command as a container runtime does: in its own root, as a user who cannot become another user.
# The caller must have created new mount and PID namespaces for it: see container.ts.
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
# no exec, so that this process stays root: the kernel clears the parent-death signal of a process that changes its user
setpriv --no-new-privs -- chroot --userspec="$uid:$uid" --groups= "$root" "$@"
