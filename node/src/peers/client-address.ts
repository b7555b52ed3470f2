/** Maps remote addresses to clients: which addresses count as one client. */

import { isIPv6 } from "node:net";

/** All addresses of an IPv6 network, which is the first four groups of eight, count as one client. */
const NETWORK_GROUPS = 4;
const ADDRESS_GROUPS = 8;
const MAPPED = "::ffff:";

/**
 * Returns the part that the addresses of one client share: the whole IPv4 address, or the network of an IPv6 address.
 */
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
