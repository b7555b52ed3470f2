#!/bin/sh
# quoinctl in the first pod of a cluster, as its owner: quoinctl.sh NAMESPACE CLUSTER COMMAND...
# The owner's key goes through a pipe: it is in no argument, and in no file.
set -eu
namespace=$1
cluster=$2
shift 2

kubectl --namespace "$namespace" get secret "$cluster-owner" --output 'jsonpath={.data.api-key}' | base64 -d |
  kubectl --namespace "$namespace" exec --stdin "$cluster-0" --container quoin -- sh -c '
    QUOIN_API_KEY=$(cat) QUOIN_ENDPOINTS=localhost:7400 exec quoinctl --ca /etc/quoin/ca/ca.crt "$@"' quoinctl "$@"
