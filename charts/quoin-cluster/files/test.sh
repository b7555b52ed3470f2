# What `helm test` runs: what clients do, through each of the Services, whose hosts are in SERVICES.
set -eu
namespace=helm-test

fail() {
  echo "FAILED: $*"
  exit 1
}

same() {
  [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
  echo "ok: $1"
}

# The first line in which a field has a number.
number() {
  sed -n "s/^ *\"$1\": *\"\{0,1\}\([0-9][0-9]*\).*/\1/p" | head -n 1
}

try() {
  export QUOIN_ENDPOINTS="$1:$GRPC_PORT" QUOIN_HTTP_ENDPOINTS="$SCHEME://$1:$HTTP_PORT"
  name="$1-$(date +%s)-$$"
  key="$namespace/$name"
  echo "through $1"

  quoinctl namespace create "$namespace" >/tmp/said 2>&1 || grep -qi exist /tmp/said || fail "$(cat /tmp/said)"
  quoinctl kv put "$key" one -o json >/tmp/put
  same "put and get" "$(quoinctl kv get "$key" --raw)" one

  quoinctl kv cas "$key" two --expect one >/tmp/said
  same "compare and set" "$(quoinctl kv get "$key" --raw)" two
  if quoinctl kv cas "$key" three --expect one >/tmp/said 2>&1; then
    fail "a value was set that was not to be"
  fi
  same "compare and set, refused" "$(quoinctl kv get "$key" --raw)" two

  quoinctl lock create "$key" >/tmp/said
  quoinctl lock run "$key" -- sh -c \
    'echo "$QUOIN_FENCING_TOKEN" >/tmp/token; quoinctl kv put --guard "$QUOIN_LOCK=$QUOIN_FENCING_TOKEN" "$0" three' "$key" >/tmp/said
  same "lock, and a write guarded by its token" "$(quoinctl kv get "$key" --raw)" three
  if quoinctl kv put --guard "$name=$(cat /tmp/token)" "$key" four >/tmp/said 2>&1; then
    fail "a write was let through by a token whose hold is over"
  fi
  same "a token whose hold is over" "$(quoinctl kv get "$key" --raw)" three

  quoinctl watch keys "$key" --from-revision "$(number revision </tmp/put)" --limit 3 >/tmp/watched
  same "watch" "$(grep -c . /tmp/watched)" 3

  quoinctl log create "$name" --namespace "$namespace" >/tmp/said
  quoinctl log append "$name" hello >/tmp/said
  quoinctl log read "$name" >/tmp/read
  grep -q hello /tmp/read || fail "the event log has no event: $(cat /tmp/read)"
  echo "ok: append and read"

  quoinctl log delete "$name" >/tmp/said
  quoinctl kv delete "$key" >/tmp/said
}

for service in $SERVICES; do
  try "$service"
done
echo "all is well"
