/** Whose a remote address is: which addresses count as one client. */

import { isIPv6 } from "node:net";

/** An IPv6 network, the first four groups of eight, counts as one client with all its addresses. */
const NETWORK_GROUPS = 4;
const ADDRESS_GROUPS = 8;
const MAPPED = "::ffff:";

/** What addresses of one client have in common: all of an IPv4 address, the network of an IPv6 address. */
export function clientOf(address: string): string {
  const plain = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
  if (!isIPv6(plain)) {
    return plain;
  }
  const [head = "", tail = ""] = plain.split("%")[0]?.split("::") ?? [];
  const [before, after] = [head, tail].map((part) => (part === "" ? [] : part.split(":"))) as [string[], string[]];
  const zeros = new Array<string>(ADDRESS_GROUPS - before.length - after.length).fill("0");
  const groups = [...before, ...zeros, ...after];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
