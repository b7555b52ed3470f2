/** Addresses of members, as `host:port`. */

import { isIPv4, isIPv6 } from "node:net";
import { badField } from "../options/index.ts";

const ENDPOINT_PATTERN = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})$/;
const PORT_MAX = 65_535;

/** Whether a text is `host:port`, with an IPv6 address in brackets. */
export function isEndpoint(text: string): boolean {
  const port = ENDPOINT_PATTERN.exec(text)?.[2];
  return port !== undefined && Number(port) >= 1 && Number(port) <= PORT_MAX;
}

/**
 * The host of an endpoint, an IPv6 address without its brackets.
 *
 * @param endpoint a valid `host:port`.
 */
export function hostOf(endpoint: string): string {
  return endpoint.slice(0, endpoint.lastIndexOf(":")).replace(/^\[|\]$/g, "");
}

/** The endpoint of a host, which may be an IPv6 address, and a port. */
export function endpointOf(host: string, port: number | string): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/**
 * Whether a host is this machine, by the reserved names and addresses.
 *
 * @param host an IPv6 address without brackets.
 */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD unless there is at least one endpoint and each is `host:port`. */
export function assertEndpoints(field: string, endpoints: readonly string[]): void {
  if (!Array.isArray(endpoints) || endpoints.length === 0) {
    throw badField(field, "must name at least one host:port");
  }
  for (const endpoint of endpoints) {
    if (typeof endpoint !== "string" || !isEndpoint(endpoint)) {
      throw badField(field, `must be host:port, not ${JSON.stringify(endpoint)}`);
    }
  }
}
