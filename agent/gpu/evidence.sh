#!/usr/bin/env bash
# Runs the agent on a GPU and writes the results to $OUT (default ./evidence). NSYS and PYTHON can be overridden.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${OUT:=$PWD/evidence}"
: "${PYTHON:=python3}"
: "${NSYS:=/opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys}"
export OUT PYTHONDONTWRITEBYTECODE=1
mkdir -p "$OUT"
nsys=()
if [ -x "$NSYS" ]; then nsys=(--nsys "$NSYS"); else echo "no nsys at $NSYS: nsys captures are skipped" >&2; fi
"$PYTHON" "$here/evidence.py" ${nsys[@]+"${nsys[@]}"} "$@"
ls -l "$OUT"
