#!/usr/bin/env bash
# What action.yml runs: stepscope check, its verdict as outputs, and a comment on the pull request that later runs replace.
# Inputs are the variables INPUT_… of action.yml.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
# A release has the build; a checkout of the source makes it once.
if [ ! -e "$root/dist/src/cli/main.js" ]; then
  (cd "$root" && npm ci --no-audit --no-fund) >&2
fi

arguments=()
while IFS= read -r file; do
  [ -z "$file" ] || arguments+=("$file")
done <<<"$INPUT_PROFILE"
arguments+=(--policy "$INPUT_POLICY" --baselines "$INPUT_BASELINES")
[ -z "$INPUT_BASELINE" ] || arguments+=(--baseline "$INPUT_BASELINE")
[ -z "$INPUT_BENCH" ] || arguments+=(--bench "$INPUT_BENCH")
[ -z "$INPUT_ALLOW_DIFFERENT" ] || arguments+=(--allow-different "$INPUT_ALLOW_DIFFERENT")

mkdir -p "$INPUT_REPORT_FOLDER"
page="$INPUT_REPORT_FOLDER/check.md"
status=0
node "$root/bin/stepscope" check "${arguments[@]}" --github --junit "$INPUT_REPORT_FOLDER/check.xml" \
  --markdown -o "$page" || status=$?

case $status in
  0) verdict=pass ;;
  1) verdict=regression ;;
  2) verdict=not-comparable ;;
  *) exit "$status" ;;
esac
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'verdict=%s\nexit-code=%s\n' "$verdict" "$status" >>"$GITHUB_OUTPUT"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat "$page" >>"$GITHUB_STEP_SUMMARY"
fi
if [ "$INPUT_COMMENT" = true ] && [ -n "${PULL_REQUEST:-}" ]; then
  gh pr comment "$PULL_REQUEST" --edit-last --create-if-none --body-file "$page" ||
    echo "::warning::The verdict could not be commented: the job needs the permission pull-requests: write."
fi
[ "$status" = 2 ] && [ "$INPUT_FAIL_IF_NOT_COMPARABLE" != true ] && exit 0
exit "$status"
