#!/usr/bin/env bash
# The first process of the run's namespaces sets them up and runs the command. When this process ends, the kernel
# ends all other processes in the namespaces. This process is a shell, because process 1 has to reap orphaned processes.
#
# usage: enter.sh COMMAND [ARGUMENT ...]
set -euo pipefail

# Keeps the folder for logs open, because the next mount hides the folder's path if that is below /run. After a
# failure, logs are copied to the folder.
exec {outside}<"$(dirname "$CNI_GATE_LOGS")"
logs=/proc/self/fd/$outside/$(basename "$CNI_GATE_LOGS")

# the mount disappears with the mount namespace, however this script ends
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir -m 1777 /run/cni-gate
export TMPDIR=/run/cni-gate

# A process can listen on every address of a range that the loopback has, so it can stand in for a pod at the pod's
# address. The API server calls webhooks at these addresses: an EndpointSlice may not contain those of 127.0.0.0/8.
ip link set lo up
ip address add 10.253.0.1/16 dev lo # the addresses that kwok gives to pods
ip address add 10.254.0.1/16 dev lo # addresses that tests may choose

code=0
"$@" || code=$?
if ((code != 0)); then
  for log in "$TMPDIR"/*/log; do
    [ -d "$log" ] || continue # if no log exists, $log is the pattern itself
    mkdir -p "$logs"
    cp -r "$log" "$logs/$(basename "$(dirname "$log")")"
  done
fi
exit "$code"
