/** Addresses of members: host:port, with an IPv6 address in brackets. */

export interface HostPort {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

const PORT_MAX = 65_535;

/** The parts of an address, or null if the text is not an address. */
export function parseHostPort(text: string): HostPort | null {
  const colon = text.lastIndexOf(":");
  const digits = text.slice(colon + 1);
  const port = Number(digits);
  if (colon < 1 || !/^[0-9]{1,5}$/.test(digits) || port < 1 || port > PORT_MAX) {
    return null;
  }
  const host = text.slice(0, colon);
  if (host.startsWith("[") && host.endsWith("]") && host.length > 2) {
    return { host: host.slice(1, -1), port };
  }
  return host.includes(":") || host.includes("[") || host.includes("]") ? null : { host, port };
}
