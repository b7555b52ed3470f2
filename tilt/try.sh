#!/bin/sh
# Tries out what clients do, in the first pod of a cluster: try.sh NAMESPACE CLUSTER
set -eu
namespace=$1
cluster=$2

quoinctl() {
  echo "quoinctl $*"
  sh "$(dirname "$0")/quoinctl.sh" "$namespace" "$cluster" "$@"
}

key="default/tilt-$$"
quoinctl status
quoinctl kv put "$key" hello
test "$(quoinctl kv get "$key" | tail -n 1)" = hello
quoinctl kv delete "$key"
quoinctl lock create "$key"
quoinctl lock run "$key" true
echo "all is well"
