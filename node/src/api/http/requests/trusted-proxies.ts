/**
 * The proxies that are trusted to report client addresses: those that an administrator has named, by address or
 * network. Reports from any other sender are ignored.
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
   * @param networks such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7.
   * @throws Error naming the first one that is neither an address nor a network.
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

  /** Whether the address is a trusted proxy; false if it is not an address. */
  includes(address: string): boolean {
    if (this.#isEmpty) {
      return false;
    }
    const plain = plainAddress(address);
    const family = FAMILIES.get(isIP(plain) as 4 | 6)?.family;
    return family !== undefined && this.#networks.check(plain, family);
  }

  /**
   * Returns the address of the client of a connection from `peer`. Each proxy adds the address of its own client at the
   * end of X-Forwarded-For. So the last entry that is not a trusted proxy is the client; the client itself wrote the
   * entries before it. If a proxy adds something that is not an address, the client is that proxy: nothing more is
   * known.
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

/** Returns the IPv4 address of an IPv4-mapped IPv6 address, and any other address as it is. */
export function plainAddress(address: string): string {
  return address.replace(MAPPED, "");
}

/** Returns the canonical text of an address that may be written in several ways; null if it is not an address. */
export function canonicalAddress(text: string): string | null {
  if (!isIPv6(text)) {
    return isIP(text) === 0 ? null : text;
  }
  return text.includes("%") ? null : plainAddress(new SocketAddress({ address: text, family: "ipv6" }).address);
}

/** Returns null if the entry is not an address. */
function addressOfEntry(entry: string): string | null {
  const [, ipv4, ipv6] = WITH_PORT.exec(entry) ?? [];
  return canonicalAddress(ipv4 ?? ipv6 ?? entry);
}
