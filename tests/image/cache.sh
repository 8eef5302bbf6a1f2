# Where install.sh stores files and enter.sh finds them. Other scripts source this file, with its folder in $here.
cache=${CNI_GATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cni-gate}
# the hash in the name gives each version of the plugin its own file
compose_plugin=$cache/docker-compose-$(cat "$here"/compose/go.mod "$here"/compose/go.sum | sha256sum | cut -c 1-16)
debian=$cache/debian-bookworm-musl-$(uname -m).tar
