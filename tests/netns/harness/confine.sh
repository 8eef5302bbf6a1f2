#!/usr/bin/env bash
# Runs a program in a root file system as a kubelet gives it to a container under Pod Security "restricted":
# read-only, without /tmp, with a /proc of its own PID namespace, a /sys of the pod's network, four devices, a
# termination log, the pod's shared memory, and the given mounts.
# Runs as root in its own mount, PID and network namespaces. Writes a line to descriptor 3 when everything is set up.
#
# usage: confine.sh ROOT TERMINATION_LOG SHARED_MEMORY [SOURCE:PATH_IN_CONTAINER ...] -- COMMAND [ARGUMENT ...]
set -euo pipefail
root=$1 log=$2 shm=$3
shift 3

bind() { mount --bind -o ro "$1" "$2"; }

mount -t tmpfs -o mode=0755 tmpfs "$root"
mkdir -p "$root"/{dev/shm,proc,sys,usr}
touch "$root/dev/termination-log"
bind /usr "$root/usr"
for folder in /bin /sbin /lib /lib32 /lib64; do
  if [ -L "$folder" ]; then
    cp -P "$folder" "$root$folder"
  elif [ -d "$folder" ]; then
    mkdir "$root$folder"
    bind "$folder" "$root$folder"
  fi
done
mount -t proc proc "$root/proc"
# shows this network namespace, as in a container
mount -t sysfs -o ro sysfs "$root/sys"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount --bind "$log" "$root/dev/termination-log"
mount --bind "$shm" "$root/dev/shm"
while [ "$1" != -- ]; do
  if [ -d "${1%%:*}" ]; then
    mkdir -p "$root${1#*:}"
  else
    mkdir -p "$(dirname "$root${1#*:}")"
    touch "$root${1#*:}"
  fi
  bind "${1%%:*}" "$root${1#*:}"
  shift
done
shift
mount -o remount,ro "$root"

echo made >&3
exec 3>&-
exec chroot "$root" "$@"
