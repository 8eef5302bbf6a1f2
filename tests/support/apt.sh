# Scripts that install packages of Debian or Ubuntu source this file.

# apt_install SUITE MISSING PACKAGE ...: installs the packages. If apt-get is absent or needs root, prints MISSING.
apt_install() {
  local name=$1 missing=$2 wait_for_lock=(-o DPkg::Lock::Timeout=300)
  shift 2
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    printf '%s needs %s.\nThere is no apt-get here, or no right to use it. Debian has them in: %s\n' "$name" "$missing" "$*" >&2
    exit 1
  fi
  printf '%s: installing for %s\n' "$name" "$missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get "${wait_for_lock[@]}" update -qq
  apt-get "${wait_for_lock[@]}" install -y -qq --no-install-recommends "$@" >/dev/null
}
