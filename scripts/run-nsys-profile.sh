#!/bin/sh
# Profiles what runs in a pod and copies the result back.
#
#   run-nsys-profile.sh POD OUTPUT                              the server that runs there: through its endpoints or the
#                                                               agent inside it, or the reason why that is not possible
#   RESTART=1 run-nsys-profile.sh POD OUTPUT                    the same server, restarted under nsys and changed back
#   run-nsys-profile.sh POD OUTPUT [options] -- COMMAND…        a command, started there under nsys
#
# For CI. Reads NAMESPACE, CONTAINER, NSYS_DEB, NSYS_TREE, STORE and RESTART from the environment if set.
set -eu
if [ "$#" -lt 2 ]; then
  echo "usage: $0 POD OUTPUT [options of stepscope capture] [-- COMMAND…]" >&2
  exit 2
fi
pod=$1
output=$2
shift 2
# nsys must start the process it records: without a command, the running server is profiled from inside.
attach=--attach
if [ -n "${RESTART:-}" ]; then attach=--restart; fi
for word in "$@"; do
  if [ "$word" = -- ]; then attach=; fi
done
if [ -n "${STORE:-}" ]; then set -- --store "$STORE" "$@"; fi
if [ -n "${NSYS_TREE:-}" ]; then set -- --nsys-tree "$NSYS_TREE" "$@"; fi
if [ -n "${NSYS_DEB:-}" ]; then set -- --nsys-deb "$NSYS_DEB" "$@"; fi
if [ -n "${CONTAINER:-}" ]; then set -- --container="$CONTAINER" "$@"; fi
if [ -n "${NAMESPACE:-}" ]; then set -- --namespace="$NAMESPACE" "$@"; fi
exec "$(dirname "$0")/../bin/stepscope" capture ${attach:+"$attach"} --pod="$pod" --output="$output" "$@"
