/** The headers that report what is left of a rate limit (draft-ietf-httpapi-ratelimit-headers). */

import type { Response } from "express";
import type { RateLimiter } from "../../../access/index.ts";

const MS_PER_SECOND = 1000;

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
