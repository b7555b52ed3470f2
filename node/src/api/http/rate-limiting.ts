/** Rate limits of HTTP, and the headers that report what is left (draft-ietf-httpapi-ratelimit-headers). */

import type { Response } from "express";
import { RateLimiter, type RateLimits } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";

const MS_PER_SECOND = 1000;

/** The limiters of the HTTP port, by what they limit. */
export type HttpLimiters = Readonly<Record<Exclude<keyof RateLimits, "grpc">, RateLimiter>>;

/** Returns limiters that always follow the present values of these limits. */
export function httpLimiters(limits: RateLimits, clock: Clock): HttpLimiters {
  const nowMs = () => clock.monotonicMs();
  return {
    http: new RateLimiter(() => limits.http, nowMs),
    openRequests: new RateLimiter(() => limits.openRequests, nowMs),
    tokenRequests: new RateLimiter(() => limits.tokenRequests, nowMs),
    tokenFailures: new RateLimiter(() => limits.tokenFailures, nowMs),
    loginRequests: new RateLimiter(() => limits.loginRequests, nowMs),
    loginFailures: new RateLimiter(() => limits.loginFailures, nowMs),
  };
}

/** Takes one request from the limit, and reports in the answer's headers what is left. Throws RATE_LIMITED. */
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
