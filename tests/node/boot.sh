#!/usr/bin/env bash
# Process 1 of a node: mounts what is the node's own, starts containerd and the kubelet, and ends with containerd.
# It is a shell because process 1 has to collect processes whose parents are gone: shims leave some.
#
# Runs as root in mount and PID namespaces of its own. What the machine has in /etc, /opt and /var is seen, and what
# is written there is gone with this boot, but for the folders that are kept on the node's disk.
#
# usage: boot.sh DISK KUBELET [ARGUMENT ...]
set -euo pipefail
disk=$1
shift

# /run of a node is new at each boot; the disk has to be seen from there, because its own path may be below /run
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

# The kernel is the machine's. A boot of the node has an id of its own, and the kubelet finds the settings that it
# would make for the whole machine made already.
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

# mounts that the kubelet makes are seen in pods, and the other way round
mount --make-rshared /

containerd --config /etc/kubernetes/containerd.toml >>/var/log/containerd.log 2>&1 &
until ctr version >/dev/null 2>&1; do
  kill -0 $! || exit 1
  sleep 0.05 # no process reports when it is ready
done
if [ -d "$disk/images" ]; then
  tar -C "$disk/images" -c . | ctr --namespace k8s.io images import --snapshotter overlayfs - >>/var/log/images.log 2>&1
  rm -r "$disk/images"
fi
# all that containerd does from here on, each pod's first container included
ctr --namespace k8s.io events >"/var/log/events-$(<"$disk/boot_id")" &

# containerd answers a little before its part for the kubelet does, and then the kubelet ends: systemd would start it
# again, too
until "$@" >>/var/log/kubelet.log 2>&1; do sleep 0.2; done &

wait -n || true
echo 'containerd, the kubelet or the record of events ended: see their logs' >&2
exit 1
