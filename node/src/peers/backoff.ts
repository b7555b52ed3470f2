/**
 * Delays between dials: each doubles the one before, up to a bound, with ±50 % jitter so that members do not dial
 * together.
 */
export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #nextMs: number;

  /** @param random uniform in [0, 1) */
  constructor(minMs: number, maxMs: number, random: () => number) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#random = random;
    this.#nextMs = minMs;
  }

  /** The delay before the next dial, in milliseconds. */
  next(): number {
    const waitMs = this.#nextMs * (0.5 + this.#random());
    this.#nextMs = Math.min(this.#nextMs * 2, this.#maxMs);
    return waitMs;
  }

  /** A dial succeeded: the next delay is the shortest again. */
  reset(): void {
    this.#nextMs = this.#minMs;
  }
}
