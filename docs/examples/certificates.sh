#!/bin/sh
# Creates what the members of a cluster need for TLS, with openssl alone, below a folder:
#
#   sh certificates.sh tls q-0 q-1 q-2
#
# tls/ca.crt is the authority that members and clients trust, and tls/ca.key signs for it: keep that file away from the
# members. tls/q-0.crt and tls/q-0.key belong to the member q-0, and so on. An existing authority and existing
# certificates stay, so the same command adds members later. To renew a certificate, delete it first.
set -eu
umask 077

directory=$1
shift
mkdir -p "$directory"
cd "$directory"

if [ ! -e ca.key ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 3650 \
    -subj "/CN=Authority of Quoin" -keyout ca.key -out ca.crt 2>/dev/null
fi

for host in "$@"; do
  [ -e "$host.crt" ] && continue
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc \
    -subj "/CN=$host" -keyout "$host.key" -out "$host.csr" 2>/dev/null
  # Members and clients dial the name of the host. `quoin-member` is the name of every member that wants to join, and
  # localhost is for commands on the machine itself.
  {
    echo "subjectAltName=DNS:$host,DNS:quoin-member,DNS:localhost,IP:127.0.0.1"
    echo "extendedKeyUsage=serverAuth,clientAuth"
  } >"$host.ext"
  openssl x509 -req -in "$host.csr" -CA ca.crt -CAkey ca.key -days 365 \
    -set_serial "0x$(openssl rand -hex 16)" -extfile "$host.ext" -out "$host.crt" 2>/dev/null
  rm "$host.csr" "$host.ext"
  echo "created $directory/$host.crt for the host $host"
done
