#!/usr/bin/env bash
# Compiles the host program with the bundle of checks in it, as one static program: FOLDER/cni-gate-validator. Cargo's
# intermediate files are kept beside the other caches, outside the checkout.
#
# usage: build.sh FOLDER [amd64|arm64]
#
# The second argument is the architecture to build for, by default that of this machine.
set -euo pipefail
to=$(cd "$1" && pwd)
cd "$(dirname "$0")"

refuse() { printf 'The validator'\''s host was not built: %s\n%s\n' "$1" "$2" >&2; exit 1; }
case ${2:-$(uname -m)} in
  amd64 | x86_64) architecture=amd64 cpu=x86_64 ;;
  arm64 | aarch64) architecture=arm64 cpu=aarch64 ;;
  *) refuse "${2:-$(uname -m)} is not a supported architecture." 'Name amd64 or arm64.' ;;
esac
target=$cpu-unknown-linux-musl
compiler=musl-gcc
if [ "$cpu" != "$(uname -m)" ]; then
  # Debian's compiler wrapper finds musl's headers; musl itself is part of Rust's library
  compiler=$cpu-linux-musl-gcc
  export "CC_${target//-/_}=$compiler" "CARGO_TARGET_${cpu^^}_UNKNOWN_LINUX_MUSL_LINKER=$cpu-linux-gnu-gcc"
fi

command -v cargo >/dev/null ||
  refuse 'cargo is missing.' "It needs Rust 1.88 or later, with the target $target: https://rustup.rs"
command -v "$compiler" >/dev/null ||
  refuse "$compiler is missing." "As root on Debian or Ubuntu: validator/host/install.sh $architecture"
has_library() { [ -d "$(rustc --print target-libdir --target "$target")" ]; }
has_library || { command -v rustup >/dev/null && rustup target add "$target" >&2 && has_library; } ||
  refuse "Rust's library for $target is missing." "rustup target add $target"

export CARGO_TARGET_DIR="${CNI_GATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cni-gate}/cargo"
cargo build --quiet --locked --release --jobs "${CARGO_BUILD_JOBS:-2}" --target "$target"
install -m 755 "$CARGO_TARGET_DIR/$target/release/cni-gate-validator" "$to/cni-gate-validator"
