#!/usr/bin/env bash
# Process 1 of a node: mounts the node's own folders, starts containerd and the kubelet, and ends with containerd.
# Process 1 has to reap orphaned processes, which containerd's shims leave behind, and a shell does that.
#
# Runs as root in its own mount and PID namespaces. The node sees the machine's /etc, /opt and /var. Changes there are
# lost at the end of this boot, except in the folders that are on the node's disk.
#
# usage: boot.sh DISK KUBELET [ARGUMENT ...]
set -euo pipefail
disk=$1
shift

# /run is new at each boot. The disk is mounted inside it, because the disk's own path may be below /run
mount -t tmpfs -o mode=0755 tmpfs "$disk/run"
mkdir "$disk"/run/{disk,written}
mount --bind "$disk" "$disk/run/disk"
for folder in etc opt var; do
  written=$disk/run/written/$folder
  mkdir -p "$written"/{upper,work}
  mount -t overlay -o "lowerdir=/$folder,upperdir=$written/upper,workdir=$written/work" overlay "/$folder"
done
mount --rbind "$disk/run" /run
disk=/run/disk
for folder in etc/cni etc/kubernetes opt/cni var/lib/cni var/lib/containerd var/lib/kubelet var/log; do
  mkdir -p "/$folder" "$disk/$folder"
  mount --bind "$disk/$folder" "/$folder"
done

# The node uses the machine's kernel. Bind mounts give the node its own boot ID, and hide machine-wide settings from
# the kubelet: it reads the values that it would set, so it changes nothing.
setting() {
  mkdir -p /run/kernel
  printf '%s\n' "$2" >"/run/kernel/${1//\//.}"
  mount --bind "/run/kernel/${1//\//.}" "/proc/sys/$1"
}
setting kernel/random/boot_id "$(<"$disk/boot_id")"
setting vm/overcommit_memory 1
setting vm/panic_on_oom 0
setting kernel/panic 10
setting kernel/panic_on_oops 1
setting kernel/keys/root_maxkeys 1000000
setting kernel/keys/root_maxbytes 25000000

# mounts propagate between the node and its pods, in both directions
mount --make-rshared /

containerd --config /etc/kubernetes/containerd.toml >>/var/log/containerd.log 2>&1 &
until ctr version >/dev/null 2>&1; do
  kill -0 $! || exit 1
  sleep 0.05 # containerd does not report when it is ready
done
if [ -d "$disk/images" ]; then
  tar -C "$disk/images" -c . | ctr --namespace k8s.io images import --snapshotter overlayfs - >>/var/log/images.log 2>&1
  rm -r "$disk/images"
fi
# records all events of containerd from now on, including those of each pod's first container
ctr --namespace k8s.io events >"/var/log/events-$(<"$disk/boot_id")" &

# the kubelet exits if containerd answers but its CRI plugin is not ready yet; systemd would restart the kubelet
# as well
until "$@" >>/var/log/kubelet.log 2>&1; do sleep 0.2; done &

wait -n || true
echo 'containerd, the kubelet or the record of events ended: see their logs' >&2
exit 1
