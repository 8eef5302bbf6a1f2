#!/usr/bin/env bash
# Installs what `npm run suite netns` needs on Debian or Ubuntu, as root. If everything is installed, does and prints
# nothing. Uses the machine's Go, or Debian's, to build the CNI project's own tool.
set -euo pipefail

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

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  printf 'tests/netns needs %s.\nHere is no apt-get, or no right to use it. Debian has them in: %s\n' \
    "${missing[*]}" "${packages[*]}" >&2
  exit 1
fi
printf 'tests/netns: installing for %s\n' "${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
wait_for_lock=(-o DPkg::Lock::Timeout=300)
apt-get "${wait_for_lock[@]}" update -qq
apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
