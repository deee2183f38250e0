#!/bin/sh
# Validates a manifest of `stepscope fleet map --engine k8s` with kubectl and the schemas of Kubernetes. Needs Go and kubectl.
#
#   validate-manifest.sh LAKE/_jobs/*/job.yaml
set -eu
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install sigs.k8s.io/kubectl-validate@v0.0.4
PATH=$bin:$PATH
kubectl validate "$1"
# The check must be able to fail.
sed 's/completionMode/completionMood/' "$1" >"$bin/wrong.yaml"
if kubectl validate "$bin/wrong.yaml"; then
  echo 'a misspelled field was not noticed' >&2
  exit 1
fi
