#!/usr/bin/env bash
# Prints the licenses of the code in the program that is not this project's own: crates, QuickJS and musl. If a crate
# offers a choice, leaves out Apache-2.0, which is also this project's license. Run this after build.sh, which downloads
# the crates.
set -euo pipefail
cd "$(dirname "$0")"

section() { printf '\n%s\n%s\n' "$1" "${1//?/-}"; cat "$2"; }

# names and versions of all crates except this one and those that run only at compile time
crates=$(cargo tree --locked --edges normal --target all --prefix none --format '{p}' |
  tail -n +2 | sed 's/ (.*//' | sort -u)
manifests=$(cargo metadata --locked --format-version 1 | grep -o '"manifest_path":"[^"]*"' | cut -d '"' -f 4)
while read -r crate version; do
  version=${version#v}
  # the folder's name has the version in cargo's cache, but not in a vendored copy
  folder=$(dirname "$(grep -m 1 -E "/$crate(-$version)?/Cargo.toml$" <<<"$manifests")")
  found=
  for file in "$folder"/LICENSE "$folder"/LICENSE-MIT "$folder"/LICENSE.*; do
    [ -f "$file" ] || continue
    section "$crate $version" "$file"
    found=1
  done
  # the crates rquickjs-* have the license of rquickjs
  [ -n "$found" ] || [[ $crate == rquickjs-* ]] ||
    { printf 'The crate %s has no file with its license in %s.\n' "$crate" "$folder" >&2; exit 1; }
  [ ! -f "$folder/quickjs/LICENSE" ] || section 'QuickJS' "$folder/quickjs/LICENSE"
done <<<"$crates"
section 'musl' /usr/share/doc/musl-dev/copyright
