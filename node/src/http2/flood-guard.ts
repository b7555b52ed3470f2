/** Counts what a client may do only so often, in a bucket of tokens for each kind. It reads no clock: time is an input. */
import type { FloodKind, FloodLimits } from "./limits.ts";

const MS_PER_SECOND = 1_000;

interface Bucket {
  tokens: number;
  filledMs: number;
}

export class FloodGuard {
  readonly #limits: FloodLimits;
  /** Most clients do nothing of this kind: a bucket is made when it is first used. */
  readonly #buckets = new Map<FloodKind, Bucket>();

  constructor(limits: FloodLimits) {
    this.#limits = limits;
  }

  /** Takes a token. Returns false if there is none: then the client has done this too often. */
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
