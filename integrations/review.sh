#!/usr/bin/env bash
# Runs `cni-gate review` for action.yml. Inputs are environment variables, never text of a script: REVIEW_FILES (one
# name a line), REVIEW_NAMESPACE, REVIEW_PROFILE, REVIEW_CONFIG, REVIEW_STRICT and REVIEW_ASSUME_MESHED (true or false),
# REVIEW_SARIF. Ends with the exit code of the review.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

wrong() {
  echo "cni-gate: $1 (CNI_GATE_USAGE)" >&2
  exit 2
}

cni_gate() { "$checkout/node_modules/.bin/node" "$checkout/dist/webhook/main.js" "$@"; }

args=()
while IFS= read -r name; do
  # the `=` keeps a name that begins with `-` from being read as a flag
  if [ -n "$name" ]; then args+=("--filename=$name"); fi
done <<<"${REVIEW_FILES:-}"
[ "${#args[@]}" -gt 0 ] || wrong 'expected the input "files": names of files, folders or globs, one a line'

value() { if [ -n "${!1:-}" ]; then args+=("$2=${!1}"); fi; }
value REVIEW_NAMESPACE --namespace
value REVIEW_PROFILE --profile
value REVIEW_CONFIG --config

switch() {
  case ${!1:-false} in
    true) args+=("$2") ;;
    false) ;;
    *) wrong "expected true or false for $2, got \"${!1}\"" ;;
  esac
}
switch REVIEW_STRICT --strict
switch REVIEW_ASSUME_MESHED --assume-meshed

status=0
cni_gate review "${args[@]}" --output github || status=$?
echo "exit-code=$status" >>"$GITHUB_OUTPUT"
if [ -n "${REVIEW_SARIF:-}" ]; then
  case $REVIEW_SARIF in *$'\n'*) wrong 'expected one line in the input "sarif-file"' ;; esac
  cni_gate review "${args[@]}" --output sarif >"$REVIEW_SARIF" 2>/dev/null || true
  # no file if nothing could be reviewed
  if [ -s "$REVIEW_SARIF" ]; then echo "sarif-file=$REVIEW_SARIF" >>"$GITHUB_OUTPUT"; else rm -f "$REVIEW_SARIF"; fi
fi
# indented lines are code: nothing in them is Markdown. GitHub refuses a summary above 1 MiB
{
  printf '### cni-gate review\n\n'
  { NO_COLOR=1 cni_gate review "${args[@]}" --summary 2>&1 || true; } | sed 's/^/    /' | head -c 500000 || true
} >>"$GITHUB_STEP_SUMMARY"
exit "$status"
