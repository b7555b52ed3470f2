/**
 * Token buckets by name. A refusal says when to retry.
 *
 * A bucket is one number, the time at which it is full again; taking a token moves that time. A full bucket is the same
 * as no bucket, and only full buckets are dropped. So no client can get a new bucket by filling the memory with others.
 * When the number of buckets is at its limit, clients without a bucket share one.
 *
 * Names are stored as they are, so they must be short: ids and addresses, never text of any length that clients choose.
 */

import type { Clock } from "../replica/index.ts";
import { CoordinationError } from "../state/index.ts";
import type { RateLimit, RateLimits } from "./rate-limits.ts";

/** What is left in a bucket. */
export interface RateAllowance {
  readonly limit: RateLimit;
  /** Whole requests that may be sent at once. */
  readonly remaining: number;
  /** Milliseconds until the whole burst is available again. */
  readonly fullInMs: number;
}

/** About 15 MB when full. */
const BUCKETS_MAX = 100_000;
/** Buckets to check for each new one; at least two, so that full buckets are dropped faster than new ones come. */
const CHECKS_PER_BUCKET = 4;
const MS_PER_SECOND = 1000;
/** A millionth of a request, because sums of fractions are not exact. */
const ROUNDING = 1e-6;
/** The name of the shared bucket. No client has this name. */
const OTHERS = "";
/** The detail of RATE_LIMITED with the whole milliseconds until the same request is not refused. */
export const RETRY_AFTER_DETAIL = "retry_after_ms";

export class RateLimiter {
  readonly #limit: () => RateLimit;
  readonly #nowMs: () => number;
  readonly #bucketsMax: number;
  /** The time at which the bucket is full, by name. */
  readonly #fullAtMs = new Map<string, number>();
  /** The limits under which buckets owe tokens, by name. */
  readonly #owing = new Map<string, RateLimit>();
  /** Iterates over all buckets, again and again. */
  #round = this.#fullAtMs.entries();

  /**
   * @param limit returns the limit that is in force now
   * @param nowMs monotonic clock in milliseconds
   */
  constructor(limit: () => RateLimit, nowMs: () => number, bucketsMax = BUCKETS_MAX) {
    this.#limit = limit;
    this.#nowMs = nowMs;
    this.#bucketsMax = bucketsMax;
  }

  /** Number of buckets. */
  get size(): number {
    return this.#fullAtMs.size;
  }

  /** Takes one token from the bucket of this name. Throws RATE_LIMITED, and takes nothing, if none is left. */
  take(name: string): void {
    const limit = this.#limit();
    if (limit.requests > 0) {
      const nowMs = this.#nowMs();
      const bucket = this.#bucketOf(name, nowMs);
      this.#fullAtMs.set(bucket, this.#requireOne(bucket, limit, nowMs) + intervalMs(limit));
    }
  }

  /** Takes one token for something that has happened already, even if none is left. */
  charge(name: string): void {
    this.#spend(name, 1, fullWhenEmpty);
  }

  /**
   * Takes tokens for something that has happened already. The bucket then owes those that it does not have, at most as
   * many as it holds when it is full.
   */
  owe(name: string, tokens: number): void {
    this.#spend(name, tokens, fullWhenOwingMost);
  }

  /** Gives back a token that was taken for something that does not count. */
  refund(name: string): void {
    const limit = this.#limit();
    const fullAtMs = this.#fullAtMs.get(name);
    if (limit.requests > 0 && fullAtMs !== undefined) {
      this.#fullAtMs.set(name, fullAtMs - intervalMs(limit));
    }
  }

  /** Returns what is left in the bucket of this name; null if there is no limit. */
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

  /** @param latestOf returns when the bucket is full at the latest */
  #spend(name: string, tokens: number, latestOf: (limit: RateLimit, nowMs: number) => number): void {
    const limit = this.#limit();
    if (limit.requests > 0) {
      const nowMs = this.#nowMs();
      const bucket = this.#bucketOf(name, nowMs);
      const spentMs = this.#fullFrom(bucket, limit, nowMs) + tokens * intervalMs(limit);
      const fullAtMs = Math.min(spentMs, latestOf(limit, nowMs));
      this.#fullAtMs.set(bucket, fullAtMs);
      if (fullAtMs > fullWhenEmpty(limit, nowMs)) {
        this.#owing.set(bucket, limit);
      }
    }
  }

  /** Returns when the bucket is full, if a token is left; else throws the refusal. */
  #requireOne(bucket: string, limit: RateLimit, nowMs: number): number {
    const fullAtMs = this.#fullFrom(bucket, limit, nowMs);
    const eachMs = intervalMs(limit);
    const missingMs = fullAtMs - nowMs - (limit.burst - 1) * eachMs;
    if (missingMs > eachMs * ROUNDING) {
      throw rateLimited(limit, missingMs);
    }
    return fullAtMs;
  }

  /** Returns when the bucket is full. What it owes counts only under the limit under which it came to owe it. */
  #fullFrom(bucket: string, limit: RateLimit, nowMs: number): number {
    const fullAtMs = this.#fullAtMs.get(bucket);
    if (fullAtMs === undefined || fullAtMs < nowMs) {
      return nowMs;
    }
    const emptyMs = fullWhenEmpty(limit, nowMs);
    if (fullAtMs <= emptyMs || this.#owes(bucket, limit)) {
      return fullAtMs;
    }
    this.#fullAtMs.set(bucket, emptyMs);
    return emptyMs;
  }

  #owes(bucket: string, limit: RateLimit): boolean {
    const owing = this.#owing.get(bucket);
    return owing !== undefined && isSame(owing, limit);
  }

  /** Returns the name of the bucket to use: its own, or the shared one when the number of buckets is at its limit. */
  #bucketOf(name: string, nowMs: number): string {
    if (this.#fullAtMs.has(name)) {
      return name;
    }
    this.#dropFull(nowMs);
    return this.#fullAtMs.size < this.#bucketsMax ? name : OTHERS;
  }

  #dropFull(nowMs: number): void {
    for (let checks = 0; checks < CHECKS_PER_BUCKET; checks++) {
      const next = this.#round.next();
      if (next.done === true) {
        this.#round = this.#fullAtMs.entries();
        return;
      }
      const [name, fullAtMs] = next.value;
      if (fullAtMs <= nowMs) {
        this.#owing.delete(name);
        this.#fullAtMs.delete(name);
      }
    }
  }
}

/** Returns the milliseconds until the refused request is allowed, at least 1; 0 for any other error. */
export function retryAfterMs(error: CoordinationError): number {
  return Number(error.details.get(RETRY_AFTER_DETAIL) ?? 0);
}

function isSame(one: RateLimit, other: RateLimit): boolean {
  return one.requests === other.requests && one.windowSecs === other.windowSecs && one.burst === other.burst;
}

/** Milliseconds until one more token is available. */
function intervalMs({ requests, windowSecs }: RateLimit): number {
  return (windowSecs * MS_PER_SECOND) / requests;
}

/** When a bucket that is empty now is full again. */
function fullWhenEmpty(limit: RateLimit, nowMs: number): number {
  return nowMs + limit.burst * intervalMs(limit);
}

/** When a bucket that owes as much as it may is full again. */
function fullWhenOwingMost(limit: RateLimit, nowMs: number): number {
  return fullWhenEmpty(limit, nowMs) + limit.burst * intervalMs(limit);
}

function rateLimited({ requests, windowSecs }: RateLimit, waitMs: number): CoordinationError {
  const details = new Map([[RETRY_AFTER_DETAIL, String(Math.max(1, Math.ceil(waitMs)))]]);
  return new CoordinationError("RATE_LIMITED", `more than ${requests} requests in ${windowSecs} s`, { details });
}

/** The limiters of a member, which all of its ports share, by what they limit. */
export type RateLimiters = Readonly<Record<keyof RateLimits, RateLimiter>>;

/** Returns limiters that always follow the present values of these limits. */
export function rateLimiters(limits: RateLimits, clock: Pick<Clock, "monotonicMs">): RateLimiters {
  const nowMs = () => clock.monotonicMs();
  return {
    grpc: new RateLimiter(() => limits.grpc, nowMs),
    http: new RateLimiter(() => limits.http, nowMs),
    openRequests: new RateLimiter(() => limits.openRequests, nowMs),
    tokenRequests: new RateLimiter(() => limits.tokenRequests, nowMs),
    tokenFailures: new RateLimiter(() => limits.tokenFailures, nowMs),
    loginRequests: new RateLimiter(() => limits.loginRequests, nowMs),
    loginFailures: new RateLimiter(() => limits.loginFailures, nowMs),
  };
}
