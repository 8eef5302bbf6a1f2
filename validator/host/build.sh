#!/usr/bin/env bash
# Compiles the host with the bundle in it, as one static program: FOLDER/cni-gate-validator. What cargo makes on the way
# is kept beside the other caches, outside the checkout.
#
# usage: build.sh FOLDER
set -euo pipefail
to=$(cd "$1" && pwd)
cd "$(dirname "$0")"
target="$(uname -m)-unknown-linux-musl"

refuse() { printf 'The validator'\''s host was not built: %s\n%s\n' "$1" "$2" >&2; exit 1; }
command -v cargo >/dev/null ||
  refuse 'cargo is missing.' "It needs Rust 1.88 or later, with the target $target: https://rustup.rs"
command -v musl-gcc >/dev/null ||
  refuse 'musl-gcc is missing.' 'As root on Debian or Ubuntu: validator/host/install.sh'
has_library() { [ -d "$(rustc --print target-libdir --target "$target")" ]; }
has_library || { command -v rustup >/dev/null && rustup target add "$target" >&2 && has_library; } ||
  refuse "Rust's library for $target is missing." "rustup target add $target"

export CARGO_TARGET_DIR="${CNI_GATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cni-gate}/cargo"
cargo build --quiet --locked --release --jobs "${CARGO_BUILD_JOBS:-2}" --target "$target"
install -m 755 "$CARGO_TARGET_DIR/$target/release/cni-gate-validator" "$to/cni-gate-validator"
