# Where install.sh keeps what it makes, and enter.sh finds it. To be sourced, with $here as the folder of this file.
cache=${CNI_GATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cni-gate}
# another version is another folder
compose_sum=$(cat "$here"/compose/go.mod "$here"/compose/go.sum | sha256sum | cut -c 1-16)
# a folder of the form that DOCKER_CONFIG names
docker_config=$cache/docker-compose-$compose_sum
compose_plugin=$docker_config/cli-plugins/docker-compose
debian=$cache/debian-bookworm-$(uname -m).tar
