#!/usr/bin/env bash
# Installs what `npm run suite node` needs on Debian or Ubuntu, as root. If everything is installed, does and prints
# nothing. The kubelet and the control plane are built from Go modules: see tests/README.md.
set -euo pipefail
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
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  printf 'tests/node needs %s.\nHere is no apt-get, or no right to use it. Debian has them in: %s\n' \
    "${missing[*]}" "${packages[*]}" >&2
  exit 1
fi
printf 'tests/node: installing for %s\n' "${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
wait_for_lock=(-o DPkg::Lock::Timeout=300)
apt-get "${wait_for_lock[@]}" update -qq
apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
