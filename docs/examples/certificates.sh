#!/bin/sh
# Creates what the members of a cluster need for TLS, with openssl alone, below a folder:
#
#   sh certificates.sh tls q-0 q-1 q-2
#
# Name each host as others dial it: by a DNS name, or by an address such as 10.0.0.5 or fd00::5.
#
# tls/ca.crt is the authority that members and clients trust, and tls/ca.key signs for it: keep that file away from the
# members. The folder tls/q-0 is for the member q-0: its certificate tls.crt, its key tls.key, and the authority ca.crt.
# An existing authority and existing certificates stay, so the same command adds members later. To renew a certificate,
# delete it first.
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
  mkdir -p "$host"
  cp ca.crt "$host/ca.crt"
  [ -e "$host/tls.crt" ] && continue
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc \
    -subj "/CN=$host" -keyout "$host/tls.key" -out "$host/tls.csr" 2>/dev/null
  # Members and clients dial the name or the address of the host. A certificate has them in different forms: an IPv6
  # address has colons, and an IPv4 address has only digits and dots. `quoin-member` is the name of every member that wants to join, and
  # localhost is for commands on the machine itself.
  case "$host" in
    *:*) name="IP:$host" ;;
    *[!0-9.]*) name="DNS:$host" ;;
    *) name="IP:$host" ;;
  esac
  {
    echo "subjectAltName=$name,DNS:quoin-member,DNS:localhost,IP:127.0.0.1"
    echo "extendedKeyUsage=serverAuth,clientAuth"
  } >"$host/tls.ext"
  openssl x509 -req -in "$host/tls.csr" -CA ca.crt -CAkey ca.key -days 365 \
    -set_serial "0x$(openssl rand -hex 16)" -extfile "$host/tls.ext" -out "$host/tls.crt" 2>/dev/null
  rm "$host/tls.csr" "$host/tls.ext"
  echo "created $directory/$host/tls.crt for the host $host"
done
