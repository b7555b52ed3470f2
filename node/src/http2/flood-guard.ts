/**
 * Limits what a client may do only so often, with one token bucket for each kind. It reads no clock: time is an input.
 */
import type { FloodKind, FloodLimits } from "./limits.ts";

const MS_PER_SECOND = 1_000;

interface Bucket {
  tokens: number;
  filledMs: number;
}

export class FloodGuard {
  readonly #limits: FloodLimits;
  /** Buckets are created at their first use, because most clients need none. */
  readonly #buckets = new Map<FloodKind, Bucket>();

  constructor(limits: FloodLimits) {
    this.#limits = limits;
  }

  /** Takes a token. Returns false if none is left: the client has done this too often. */
  allows(kind: FloodKind, nowMs: number): boolean {
    const { burst, perSecond } = this.#limits[kind];
    let bucket = this.#buckets.get(kind);
    if (bucket === undefined) {
      bucket = { tokens: burst, filledMs: nowMs };
      this.#buckets.set(kind, bucket);
    }
    const gained = (Math.max(0, nowMs - bucket.filledMs) * perSecond) / MS_PER_SECOND;
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.filledMs = nowMs;
    if (bucket.tokens < 1) {
      return false;
    }
    bucket.tokens--;
    return true;
  }
}
