#!/usr/bin/env bash
# Prints the licenses of what is in the program besides this project's own code: its crates, QuickJS and musl. Of two
# licenses to choose from, Apache-2.0 is the project's own. To be run after build.sh, which fetches the crates.
set -euo pipefail
cd "$(dirname "$0")"

section() { printf '\n%s\n%s\n' "$1" "${1//?/-}"; cat "$2"; }

# names and versions, without this crate and without what only runs while it is compiled
crates=$(cargo tree --locked --edges normal --target all --prefix none --format '{p}' |
  tail -n +2 | sed 's/ (.*//' | sort -u)
manifests=$(cargo metadata --locked --format-version 1 | grep -o '"manifest_path":"[^"]*"' | cut -d '"' -f 4)
while read -r crate version; do
  version=${version#v}
  # cargo's own copies have the version in the folder's name, vendored ones do not
  folder=$(dirname "$(grep -m 1 -E "/$crate(-$version)?/Cargo.toml$" <<<"$manifests")")
  found=
  for file in "$folder"/LICENSE "$folder"/LICENSE-MIT "$folder"/LICENSE.*; do
    [ -f "$file" ] || continue
    section "$crate $version" "$file"
    found=1
  done
  # the parts of rquickjs have its license
  [ -n "$found" ] || [[ $crate == rquickjs-* ]] ||
    { printf 'The crate %s has no file with its license in %s.\n' "$crate" "$folder" >&2; exit 1; }
  [ ! -f "$folder/quickjs/LICENSE" ] || section 'QuickJS' "$folder/quickjs/LICENSE"
done <<<"$crates"
section 'musl' /usr/share/doc/musl-dev/copyright
