#!/usr/bin/env bash
# Installs what `npm run suite node` needs on Debian or Ubuntu, as root. If everything is installed, does and prints
# nothing. The kubelet and the control plane are built from Go modules: see tests/README.md.
set -euo pipefail
source "$(dirname "$0")/../support/apt.sh"
# a Docker engine builds the images
"$(dirname "$0")/../image/install.sh"

commands=(containerd ctr runc ip iptables-nft iptables-nft-restore mount nft nsenter setpriv tar unshare)
missing=()
for command in "${commands[@]}"; do
  command -v "$command" >/dev/null || missing+=("$command")
done
[ -x /usr/lib/cni/bridge ] || missing+=(/usr/lib/cni/bridge)
[ ${#missing[@]} -eq 0 ] && exit 0

packages=(containerd runc containernetworking-plugins iproute2 iptables mount nftables tar util-linux)
apt_install tests/node "${missing[*]}" "${packages[@]}"
