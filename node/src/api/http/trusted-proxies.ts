/**
 * The proxies whose word about the addresses of clients is taken: those that an administrator has named, by address or
 * network. What anybody else says of it is ignored.
 */

import { BlockList, isIP, isIPv6, SocketAddress } from "node:net";

const FAMILIES = new Map([
  [4, { family: "ipv4", bitsMax: 32 }],
  [6, { family: "ipv6", bitsMax: 128 }],
] as const);
const NETWORK = /^([^/]+?)(?:\/([0-9]{1,3}))?$/;
const MAPPED = /^::ffff:(?=[0-9.]+$)/i;
/** An entry of X-Forwarded-For, which some proxies write with a port: 192.0.2.7:80, [2001:db8::7]:80. */
const WITH_PORT = /^(?:([0-9.]+)|\[([0-9a-fA-F:.]+)\])(?::[0-9]{1,5})?$/;

export class TrustedProxies {
  readonly #networks = new BlockList();
  readonly #isEmpty: boolean;

  /**
   * @param networks such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7. Raises an Error that names the first that is neither
   * an address nor a network.
   */
  constructor(networks: readonly string[]) {
    this.#isEmpty = networks.length === 0;
    for (const network of networks) {
      const [, address = "", bits] = NETWORK.exec(network) ?? [];
      const kind = FAMILIES.get(isIP(address) as 4 | 6);
      if (kind === undefined || address.includes("%") || Number(bits ?? 0) > kind.bitsMax) {
        throw new Error(`${JSON.stringify(network)} is neither an IP address nor a network such as 10.0.0.0/8`);
      }
      this.#networks.addSubnet(address, Number(bits ?? kind.bitsMax), kind.family);
    }
  }

  /** Whether the address is one of them; false for what is no address. */
  includes(address: string): boolean {
    if (this.#isEmpty) {
      return false;
    }
    const plain = plainAddress(address);
    const family = FAMILIES.get(isIP(plain) as 4 | 6)?.family;
    return family !== undefined && this.#networks.check(plain, family);
  }

  /**
   * The address of the client, where a connection comes from `peer`. Each proxy adds whom it was asked by at the end of
   * X-Forwarded-For, so the last entry that is no trusted proxy is the client; the entries before it are the client's own
   * words. Where a proxy adds something that is no address, the client is that proxy: more is not known.
   *
   * @param forwardedFor the values of all X-Forwarded-For lines, in their order
   */
  clientAddress(peer: string, forwardedFor: readonly string[]): string {
    let client = peer;
    for (let line = forwardedFor.length - 1; line >= 0; line--) {
      const entries = forwardedFor[line] as string;
      for (let end = entries.length; end >= 0; ) {
        if (!this.includes(client)) {
          return client;
        }
        const comma = end === 0 ? -1 : entries.lastIndexOf(",", end - 1);
        const address = addressOfEntry(entries.slice(comma + 1, end).trim());
        if (address === null) {
          return client;
        }
        client = address;
        end = comma;
      }
    }
    return client;
  }
}

/** The IPv4 address that a socket writes as one of IPv6, and any other as it is. */
export function plainAddress(address: string): string {
  return address.replace(MAPPED, "");
}

/** The one text of an address that may be written in several ways; null for what is no address. */
export function canonicalAddress(text: string): string | null {
  if (!isIPv6(text)) {
    return isIP(text) === 0 ? null : text;
  }
  return text.includes("%") ? null : plainAddress(new SocketAddress({ address: text, family: "ipv6" }).address);
}

/** Null if the entry is no address. */
function addressOfEntry(entry: string): string | null {
  const [, ipv4, ipv6] = WITH_PORT.exec(entry) ?? [];
  return canonicalAddress(ipv4 ?? ipv6 ?? entry);
}
