/**
 * Token buckets by name: who asks too fast is told when to come back.
 *
 * A bucket is one number, the time at which it is full again; to take from it moves that time. So a bucket that is full
 * is the same as none, and only such ones are ever thrown away: nobody gets a new bucket by filling the memory with those
 * of others. When there is room for no more, those who have none share one.
 *
 * Names are kept as they are, so they must be short: ids, addresses, and nothing of any length that clients make up.
 */

import { CoordinationError } from "../state/index.ts";
import type { RateLimit } from "./rate-limits.ts";

/** What is left to somebody. */
export interface RateAllowance {
  readonly limit: RateLimit;
  /** Whole requests that may be sent at once. */
  readonly remaining: number;
  /** Milliseconds until that is the whole burst again. */
  readonly fullInMs: number;
}

/** About 15 MB when full. */
const BUCKETS_MAX = 100_000;
/** Buckets looked at for each new one; at least two, so that they are found full faster than they come. */
const LOOKS_PER_BUCKET = 4;
const MS_PER_SECOND = 1000;
/** A millionth of a request: sums of fractions are not exact. */
const ROUNDING = 1e-6;
/** The name of the bucket of those who have none of their own. It is the name of nobody. */
const OTHERS = "";
/** In the detail of RATE_LIMITED: whole milliseconds until the same request is not refused. */
const RETRY_AFTER_DETAIL = "retry_after_ms";

export class RateLimiter {
  readonly #limit: () => RateLimit;
  readonly #nowMs: () => number;
  readonly #bucketsMax: number;
  /** Names to times, on the clock, from which on the bucket is full. */
  readonly #fullAtMs = new Map<string, number>();
  /** Goes round and round over all buckets. */
  #round = this.#fullAtMs.entries();

  /**
   * @param limit in force at the moment
   * @param nowMs a clock that never goes back, in milliseconds
   */
  constructor(limit: () => RateLimit, nowMs: () => number, bucketsMax = BUCKETS_MAX) {
    this.#limit = limit;
    this.#nowMs = nowMs;
    this.#bucketsMax = bucketsMax;
  }

  /** The number of buckets that are kept. */
  get size(): number {
    return this.#fullAtMs.size;
  }

  /** Takes one for whoever has this name. Raises RATE_LIMITED, and takes nothing, if none is left. */
  take(name: string): void {
    const limit = this.#limit();
    if (limit.requests > 0) {
      const nowMs = this.#nowMs();
      const bucket = this.#bucketOf(name, nowMs);
      this.#fullAtMs.set(bucket, this.#requireOne(bucket, limit, nowMs) + intervalMs(limit));
    }
  }

  /** Takes one for what has happened already, also where none is left. */
  charge(name: string): void {
    const limit = this.#limit();
    if (limit.requests > 0) {
      const nowMs = this.#nowMs();
      const bucket = this.#bucketOf(name, nowMs);
      const fullAtMs = this.#fullFrom(bucket, limit, nowMs) + intervalMs(limit);
      this.#fullAtMs.set(bucket, Math.min(fullAtMs, fullWhenEmpty(limit, nowMs)));
    }
  }

  /** Gives back one that was taken for what turned out not to count. */
  giveBack(name: string): void {
    const limit = this.#limit();
    const fullAtMs = this.#fullAtMs.get(name);
    if (limit.requests > 0 && fullAtMs !== undefined) {
      this.#fullAtMs.set(name, fullAtMs - intervalMs(limit));
    }
  }

  /** What is left to whoever has this name; null where nothing is limited. */
  allowance(name: string): RateAllowance | null {
    const limit = this.#limit();
    if (limit.requests === 0) {
      return null;
    }
    const nowMs = this.#nowMs();
    const fullInMs = this.#fullFrom(this.#bucketOf(name, nowMs), limit, nowMs) - nowMs;
    return {
      limit,
      fullInMs,
      remaining: Math.max(0, Math.floor(limit.burst - fullInMs / intervalMs(limit) + ROUNDING)),
    };
  }

  /** From when on the bucket is full, if there is one left to take; else raises the refusal. */
  #requireOne(bucket: string, limit: RateLimit, nowMs: number): number {
    const fullAtMs = this.#fullFrom(bucket, limit, nowMs);
    const eachMs = intervalMs(limit);
    const missingMs = fullAtMs - nowMs - (limit.burst - 1) * eachMs;
    if (missingMs > eachMs * ROUNDING) {
      throw rateLimited(limit, missingMs);
    }
    return fullAtMs;
  }

  /** From when on the bucket is full. None is more than empty, also one that an earlier limit filled more slowly. */
  #fullFrom(bucket: string, limit: RateLimit, nowMs: number): number {
    const fullAtMs = this.#fullAtMs.get(bucket);
    if (fullAtMs === undefined || fullAtMs < nowMs) {
      return nowMs;
    }
    const emptyMs = fullWhenEmpty(limit, nowMs);
    if (fullAtMs > emptyMs) {
      this.#fullAtMs.set(bucket, emptyMs);
    }
    return Math.min(fullAtMs, emptyMs);
  }

  /** The name of the bucket, for which there is room. */
  #bucketOf(name: string, nowMs: number): string {
    if (this.#fullAtMs.has(name)) {
      return name;
    }
    this.#dropFull(nowMs);
    return this.#fullAtMs.size < this.#bucketsMax ? name : OTHERS;
  }

  #dropFull(nowMs: number): void {
    for (let looks = 0; looks < LOOKS_PER_BUCKET; looks++) {
      const next = this.#round.next();
      if (next.done === true) {
        this.#round = this.#fullAtMs.entries();
        return;
      }
      const [name, fullAtMs] = next.value;
      if (fullAtMs <= nowMs) {
        this.#fullAtMs.delete(name);
      }
    }
  }
}

/** Milliseconds until the request that was refused so is not refused; 0 for any other error. At least 1. */
export function retryAfterMs(error: CoordinationError): number {
  return Number(error.details.get(RETRY_AFTER_DETAIL) ?? 0);
}

/** Milliseconds in which one more is allowed. */
function intervalMs({ requests, windowSecs }: RateLimit): number {
  return (windowSecs * MS_PER_SECOND) / requests;
}

/** When a bucket is full again out of which everything was taken now. */
function fullWhenEmpty(limit: RateLimit, nowMs: number): number {
  return nowMs + limit.burst * intervalMs(limit);
}

function rateLimited({ requests, windowSecs }: RateLimit, waitMs: number): CoordinationError {
  const details = new Map([[RETRY_AFTER_DETAIL, String(Math.max(1, Math.ceil(waitMs)))]]);
  return new CoordinationError("RATE_LIMITED", `more than ${requests} requests in ${windowSecs} s`, { details });
}
