#!/usr/bin/env bash
# Starts a Docker engine in the namespaces that tests/cluster/run.ts has made, gives it the images that cannot be pulled, and
# runs a command. Everything that the engine writes is below /run, a file system of these namespaces, and the engine and
# its containers end with them.
#
# usage: enter.sh COMMAND [ARGUMENT ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/cache.sh"
engine=$TMPDIR/engine
mkdir -p "$engine/log"

# The way out, to npm's registry: a network device that a process outside serves, as for rootless engines. It needs
# neither an address nor a rule on the machine, and does not lead to the machine's own loopback.
mkfifo "$engine/network-is-ready"
nsenter --net="/proc/self/fd/$CNI_GATE_OUTER_NET" \
  slirp4netns --configure --mtu=65520 --disable-host-loopback --netns-type=path --ready-fd=3 /proc/$$/ns/net tap0 \
  3>"$engine/network-is-ready" >"$engine/log/slirp4netns" 2>&1 &
read -r -n 1 <"$engine/network-is-ready" || { cat "$engine/log/slirp4netns" >&2; exit 1; }
# the name server of slirp4netns
echo 'nameserver 10.0.2.3' >"$engine/resolv.conf"
mount --bind "$engine/resolv.conf" /etc/resolv.conf

# nothing of the machine's own Docker: configuration, data, runtime files, socket, containerd
echo '{}' >"$engine/daemon.json"
mkdir -p "$engine/config/cli-plugins"
ln -s "$compose_plugin" "$engine/config/cli-plugins/docker-compose"
export DOCKER_HOST=unix://$engine/docker.sock DOCKER_CONFIG=$engine/config
unset DOCKER_CONTEXT DOCKER_TLS_VERIFY COMPOSE_FILE COMPOSE_PROJECT_NAME
dockerd --config-file "$engine/daemon.json" --data-root "$engine/data" --exec-root "$engine/exec" \
  --pidfile "$engine/pid" --host "$DOCKER_HOST" \
  --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "$CNI_GATE_ENGINE_GROUP" >"$engine/log/dockerd" 2>&1 &
dockerd=$!
deadline=$((SECONDS + 60))
until docker info >/dev/null 2>&1; do
  if ! kill -0 "$dockerd" 2>/dev/null || ((SECONDS > deadline)); then
    echo 'dockerd did not start; its last lines:' >&2
    tail -n 20 "$engine/log/dockerd" >&2
    exit 1
  fi
  sleep 0.1
done

[ -n "${CNI_GATE_PULL_IMAGES:-}" ] || node "$here/stand-ins/make.ts" "$debian"
exec "$@"
