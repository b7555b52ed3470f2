/**
 * Parses the header of the PROXY protocol, versions 1 and 2: a proxy sends it first on each connection, with the source
 * of the connection.
 *
 * Only the client's address is used. A header that does not follow the protocol exactly is refused. A proxy that uses
 * the protocol uses it on every connection, so other bytes do not come from a client of that proxy.
 */

import { isIPv4, isIPv6 } from "node:net";

/**
 * The result for the bytes so far. `bytes` is the length of the header; `address` is null if the proxy itself connects.
 */
export type ProxyHeader =
  | { readonly kind: "incomplete" }
  | { readonly kind: "complete"; readonly bytes: number; readonly address: string | null }
  | { readonly kind: "invalid" };

/** Including CR LF. */
const V1_BYTES_MAX = 107;
const V1_BEGIN = Buffer.from("PROXY ");
const V1_LINE = /^PROXY (?:UNKNOWN(?: [\x20-\x7e]*)?|(TCP[46]) (\S+) (\S+) (\S+) (\S+))$/;
const PORT = /^(?:0|[1-9][0-9]{0,4})$/;
const PORT_MAX = 65_535;

const V2_SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const V2_FIXED_BYTES = 16;
/** Bytes after the fixed part: addresses and extensions. Today's proxies use a tenth of this. */
const V2_REST_BYTES_MAX = 4_096;
const V2_LOCAL = 0x20;
const V2_PROXY = 0x21;
const V2_UNSPECIFIED = 0x00;
const V2_TCP_IPV4 = 0x11;
const V2_TCP_IPV6 = 0x21;
const V2_UNIX = 0x31;
/** Two addresses and two ports. */
const IPV4_BYTES = 12;
const IPV6_BYTES = 36;
const UNIX_BYTES = 216;

const INCOMPLETE: ProxyHeader = { kind: "incomplete" };
const INVALID: ProxyHeader = { kind: "invalid" };

/** Parses the first bytes of a connection, which may be any. More than about 4 KiB are never incomplete. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsAs(bytes, V2_SIGNATURE)) {
    return bytes.length < V2_FIXED_BYTES ? INCOMPLETE : parseV2(bytes);
  }
  return beginsAs(bytes, V1_BEGIN) ? parseV1(bytes) : INVALID;
}

/** Whether the two agree in the length of the shorter one. */
function beginsAs(bytes: Buffer, begin: Buffer): boolean {
  const length = Math.min(bytes.length, begin.length);
  return bytes.subarray(0, length).equals(begin.subarray(0, length));
}

function parseV1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, V1_BYTES_MAX).indexOf("\r\n");
  if (end < 0) {
    return bytes.length < V1_BYTES_MAX ? INCOMPLETE : INVALID;
  }
  const match = V1_LINE.exec(bytes.toString("latin1", 0, end));
  if (match === null) {
    return INVALID;
  }
  const [, family, source = "", destination = "", ...ports] = match;
  if (family === undefined) {
    return { kind: "complete", bytes: end + 2, address: null };
  }
  const isOfFamily = family === "TCP4" ? isIPv4 : isIPv6;
  const isRight = [source, destination].every((address) => isOfFamily(address) && !address.includes("%"));
  return isRight && ports.every((port) => PORT.test(port) && Number(port) <= PORT_MAX)
    ? { kind: "complete", bytes: end + 2, address: source }
    : INVALID;
}

function parseV2(bytes: Buffer): ProxyHeader {
  const [command, family] = [bytes[12], bytes[13]];
  const restBytes = bytes.readUInt16BE(14);
  const total = V2_FIXED_BYTES + restBytes;
  const rest = bytes.subarray(V2_FIXED_BYTES, total);
  if ((command !== V2_LOCAL && command !== V2_PROXY) || restBytes > V2_REST_BYTES_MAX) {
    return INVALID;
  }
  const addressBytes = command === V2_LOCAL ? 0 : addressBytesOf(family);
  if (addressBytes === null || restBytes < addressBytes) {
    return INVALID;
  }
  if (bytes.length < total) {
    return INCOMPLETE;
  }
  const address = command === V2_LOCAL ? null : sourceOf(family, rest);
  return { kind: "complete", bytes: total, address };
}

/** Bytes of the addresses of a family; null for a family that a TCP connection cannot have. */
function addressBytesOf(family: number | undefined): number | null {
  switch (family) {
    case V2_UNSPECIFIED:
      return 0;
    case V2_TCP_IPV4:
      return IPV4_BYTES;
    case V2_TCP_IPV6:
      return IPV6_BYTES;
    case V2_UNIX:
      return UNIX_BYTES;
    default:
      return null;
  }
}

function sourceOf(family: number | undefined, addresses: Buffer): string | null {
  if (family === V2_TCP_IPV4) {
    return addresses.subarray(0, 4).join(".");
  }
  if (family !== V2_TCP_IPV6) {
    return null;
  }
  const groups = Array.from({ length: 8 }, (_, at) => addresses.readUInt16BE(2 * at).toString(16));
  return groups.join(":");
}
