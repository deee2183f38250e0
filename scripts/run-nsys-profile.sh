#!/bin/sh
# Profiles a command in a pod and copies the report back: run-nsys-profile.sh POD OUTPUT [options] -- COMMAND…
# For CI. Reads NAMESPACE, CONTAINER, NSYS_DEB and NSYS_TREE from the environment if set.
set -eu
if [ "$#" -lt 4 ]; then
  echo "usage: $0 POD OUTPUT [options of stepscope capture] -- COMMAND…" >&2
  exit 2
fi
pod=$1
output=$2
shift 2
if [ -n "${NSYS_TREE:-}" ]; then set -- --nsys-tree "$NSYS_TREE" "$@"; fi
if [ -n "${NSYS_DEB:-}" ]; then set -- --nsys-deb "$NSYS_DEB" "$@"; fi
if [ -n "${CONTAINER:-}" ]; then set -- --container="$CONTAINER" "$@"; fi
if [ -n "${NAMESPACE:-}" ]; then set -- --namespace="$NAMESPACE" "$@"; fi
exec "$(dirname "$0")/../bin/stepscope" capture --pod="$pod" --output="$output" "$@"
