#!/usr/bin/env bash
# The first process of the run's namespaces: readies them, runs the command, and ends with it, which ends whatever
# it left behind. It is a shell because process 1 has to collect processes whose parents are gone.
#
# usage: enter.sh COMMAND [ARGUMENT ...]
set -euo pipefail

# where logs are kept after a failure, also when that is below /run
exec {outside}<"$(dirname "$CNI_GATE_LOGS")"
logs=/proc/self/fd/$outside/$(basename "$CNI_GATE_LOGS")

# gone with the mount namespace, however this ends
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir -m 1777 /run/cni-gate
export TMPDIR=/run/cni-gate

# Every address of a range on the loopback is the machine's own, so a process can stand for a pod at the pod's
# address. The API server calls webhooks there: an EndpointSlice may not hold 127.0.0.0/8.
ip link set lo up
ip address add 10.253.0.1/16 dev lo # what kwok gives to pods
ip address add 10.254.0.1/16 dev lo # for tests to choose from
# whoever calls a pod does so from here, not from the first pod's address, which a test may cut off
ip route replace local 10.253.0.0/16 dev lo src 10.254.0.1 table local

code=0
"$@" || code=$?
if ((code != 0)); then
  for log in "$TMPDIR"/*/log; do
    [ -d "$log" ] || continue # the pattern itself, where there is none
    mkdir -p "$logs"
    cp -r "$log" "$logs/$(basename "$(dirname "$log")")"
  done
fi
exit "$code"
