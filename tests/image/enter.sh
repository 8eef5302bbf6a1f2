#!/usr/bin/env bash
# Starts a Docker engine in the namespaces of tests/cluster/run.ts, loads the images that cannot be pulled, and runs
# a command. The engine writes only below /run, a file system of these namespaces. The engine and its containers end
# with the namespaces.
#
# usage: enter.sh COMMAND [ARGUMENT ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/cache.sh"
engine=$TMPDIR/engine
mkdir -p "$engine/log"

# The connection to npm's registry: a process in the machine's network serves a network device in this namespace, as
# for rootless engines. The device needs neither an address nor a rule on the machine, and cannot reach the machine's
# loopback.
mkfifo "$engine/network-is-ready"
nsenter --net="/proc/self/fd/$CNI_GATE_OUTER_NET" \
  slirp4netns --configure --mtu=65520 --disable-host-loopback --netns-type=path --ready-fd=3 /proc/$$/ns/net tap0 \
  3>"$engine/network-is-ready" >"$engine/log/slirp4netns" 2>&1 &
read -r -n 1 <"$engine/network-is-ready" || { cat "$engine/log/slirp4netns" >&2; exit 1; }
# the name server that slirp4netns provides
echo 'nameserver 10.0.2.3' >"$engine/resolv.conf"
mount --bind "$engine/resolv.conf" /etc/resolv.conf

# the engine shares nothing with the machine's own Docker: no configuration, data, runtime files, socket or containerd
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
