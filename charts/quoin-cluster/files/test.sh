# Program of `helm test`: does what clients do, through each Service. SERVICES lists their hosts.
set -eu
export LC_ALL=C
namespace=helm-test
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

same() {
  [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
  echo "ok: $1"
}

# Expects that a command fails with these words.
refused() {
  what=$1
  words=$2
  shift 2
  if "$@" >"$folder/said" 2>&1; then
    fail "$what: it succeeded, but the cluster must refuse it"
  fi
  grep -q "$words" "$folder/said" || fail "$what: $(cat "$folder/said")"
  echo "ok: $what"
}

try() {
  export QUOIN_ENDPOINTS="$1:$GRPC_PORT"
  name="$1-$(date +%s)-$$"
  key="$namespace/$name"
  echo "through $1"

  quoinctl namespace create "$namespace" >"$folder/said" 2>&1 || grep -qi exist "$folder/said" || fail "$(cat "$folder/said")"
  quoinctl kv put "$key" one -o json >"$folder/put"
  same "put and get" "$(quoinctl kv get "$key" --raw)" one
  revision=$(sed -n 's/^ *"revision": *\([0-9]*\).*/\1/p' "$folder/put")

  quoinctl kv cas "$key" two --expect one >"$folder/said"
  same "compare and set" "$(quoinctl kv get "$key" --raw)" two
  refused "a value that is not as expected" two quoinctl kv cas "$key" three --expect one

  quoinctl lock create "$key" >"$folder/said"
  quoinctl lock run "$key" -- sh -c \
    'echo "$QUOIN_FENCING_TOKEN" >"$1"; quoinctl kv put --guard "$QUOIN_LOCK=$QUOIN_FENCING_TOKEN" "$0" three' "$key" "$folder/token" >"$folder/said"
  same "lock, and a write guarded by its token" "$(quoinctl kv get "$key" --raw)" three
  refused "a token whose hold is over" FENCED quoinctl kv put --guard "$name=$(cat "$folder/token")" "$key" four

  quoinctl watch keys "$key" --from-revision "$revision" --limit 3 >"$folder/watched"
  same "watch" "$(grep -c . "$folder/watched")" 3

  quoinctl log create "$name" --namespace "$namespace" >"$folder/said"
  quoinctl log append "$name" hello >"$folder/said"
  quoinctl log read "$name" >"$folder/read"
  grep -q hello "$folder/read" || fail "the event log has no event: $(cat "$folder/read")"
  echo "ok: append and read"

  quoinctl log delete "$name" >"$folder/said"
  quoinctl kv delete "$key" >"$folder/said"
}

for service in $SERVICES; do
  try "$service"
done
echo "all is well"
