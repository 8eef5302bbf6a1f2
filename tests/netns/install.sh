#!/usr/bin/env bash
# Installs what `npm run suite netns` needs on Debian or Ubuntu, as root. If everything is installed, does and prints
# nothing. Uses the machine's Go, or Debian's, to build the CNI project's own tool.
set -euo pipefail
source "$(dirname "$0")/../support/apt.sh"

commands=(ip iptables-nft iptables-legacy nft nsenter unshare setpriv)
missing=()
for command in "${commands[@]}"; do
  command -v "$command" >/dev/null || missing+=("$command")
done
[ -x /usr/lib/cni/bridge ] || missing+=(/usr/lib/cni/bridge)
packages=(iptables nftables iproute2 containernetworking-plugins util-linux)
if ! command -v go >/dev/null; then
  missing+=(go)
  packages+=(golang-go)
fi
[ ${#missing[@]} -eq 0 ] && exit 0

apt_install tests/netns "${missing[*]}" "${packages[@]}"
