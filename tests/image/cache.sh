# Where install.sh keeps what it makes, and enter.sh finds it. To be sourced, with $here as the folder of this file.
cache=${CNI_GATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cni-gate}
# another version is another file
compose_plugin=$cache/docker-compose-$(cat "$here"/compose/go.mod "$here"/compose/go.sum | sha256sum | cut -c 1-16)
debian=$cache/debian-bookworm-musl-$(uname -m).tar
