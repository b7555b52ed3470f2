/**
 * Rate limits on HTTP: who is counted as one, and how answers tell what is left (draft-ietf-httpapi-ratelimit-headers).
 */

import { isIPv6 } from "node:net";
import type { Response } from "express";
import { RateLimiter, type RateLimits } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";

const MS_PER_SECOND = 1000;
/** A network of IPv6 belongs to one client, who has all its addresses: the first four groups of eight. */
const NETWORK_GROUPS = 4;
const ADDRESS_GROUPS = 8;
const MAPPED = "::ffff:";

/** The limiters of the HTTP port, by what they limit. */
export type HttpLimiters = Readonly<Record<Exclude<keyof RateLimits, "grpc">, RateLimiter>>;

/** Limiters that go by these limits, as they are at the moment. */
export function httpLimiters(limits: RateLimits, clock: Clock): HttpLimiters {
  const nowMs = () => clock.monotonicMs();
  return {
    http: new RateLimiter(() => limits.http, nowMs),
    tokenRequests: new RateLimiter(() => limits.tokenRequests, nowMs),
    tokenFailures: new RateLimiter(() => limits.tokenFailures, nowMs),
    loginRequests: new RateLimiter(() => limits.loginRequests, nowMs),
    loginFailures: new RateLimiter(() => limits.loginFailures, nowMs),
  };
}

/** Takes one, and says on the answer what is left. Raises RATE_LIMITED. */
export function takeOne(response: Response, policy: "default" | "address", limiter: RateLimiter, name: string): void {
  try {
    limiter.take(name);
  } finally {
    const allowance = limiter.allowance(name);
    if (allowance !== null) {
      const { limit, remaining, fullInMs } = allowance;
      response.set("RateLimit-Policy", `"${policy}";q=${limit.requests};w=${limit.windowSecs}`);
      response.set("RateLimit", `"${policy}";r=${remaining};t=${Math.ceil(fullInMs / MS_PER_SECOND)}`);
    }
  }
}

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
