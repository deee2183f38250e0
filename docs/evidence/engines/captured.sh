#!/usr/bin/env bash
# `stepscope capture --server` to the page. Usage: captured.sh NAME OUT PORT "OPTIONS OF CAPTURE" COMMAND…
set -u
name=$1 out=$2 port=$3 options=$4
shift 4
work=$(mktemp -d)
cd "$work" || exit 1
began=$(date +%s)
# shellcheck disable=SC2086
timeout "${LIMIT:-240}" stepscope capture --server "http://127.0.0.1:$port" --levels concurrent:8 $options -o "$name" -- "$@" >"$out/$name.capture.log" 2>&1
echo "== $name: exit $? after $(($(date +%s) - began)) s"
tail -45 "$out/$name.capture.log"
ls -la "$work"
for report in "$work"/*.nsys-rep; do
  "$NSYS" export -t sqlite -f true -o "${report%.nsys-rep}.sqlite" "$report" >/dev/null 2>&1
done
for file in "$work"/*.sqlite; do gzip -6c "$file" >"$out/$(basename "$file").gz"; done
cp "$work"/*.agent.json "$work"/*.recipe.json "$work"/*.load.json "$out/" 2>/dev/null
true
