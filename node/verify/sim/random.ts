/**
 * Random numbers of a run: one stream for each concern, so that more draws in one do not change another.
 *
 * splitmix32 spreads the seed; the streams are xoshiro128** (Blackman, Vigna 2018).
 */

/** A concern with a stream of its own. */
export type Concern = (typeof CONCERNS)[number];

/** A new concern must come last, so that the others stay the same. */
const CONCERNS = [
  "plan",
  "network",
  "disk",
  "process",
  "clients",
  "faults",
  "membership",
  "locks",
  "memory",
  "watches",
  "lock-watches",
  "logs",
  "accounts",
  "archive",
  "releases",
  "object-ids",
  "transactions",
  "semaphores",
  "sessions",
] as const;
const GOLDEN = 0x9e3779b9;
const TWO_POW_32 = 0x1_0000_0000;

/** Number of seeds, from 0 on. */
export const SEEDS = TWO_POW_32;

export class RandomStream {
  readonly #state: Uint32Array;

  constructor(state: Uint32Array) {
    this.#state = state;
  }

  /** Uniform in [0, 1). */
  next(): number {
    const s = this.#state;
    const [s0, s1, s2, s3] = [s[0] as number, s[1] as number, s[2] as number, s[3] as number];
    const result = Math.imul(rotate(Math.imul(s1, 5), 7), 9) >>> 0;
    const shifted = s1 << 9;
    s[2] = s2 ^ s0;
    s[3] = s3 ^ s1;
    s[1] = s1 ^ (s[2] as number);
    s[0] = s0 ^ (s[3] as number);
    s[2] = (s[2] as number) ^ shifted;
    s[3] = rotate(s[3] as number, 11);
    return result / TWO_POW_32;
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** A number in [from, to). */
  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  /** A whole number in [from, to]. */
  whole(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** A number that can seed another stream. */
  word(): number {
    return this.below(TWO_POW_32);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** Exponentially distributed around the mean. */
  exponential(mean: number): number {
    return -Math.log(1 - this.next()) * mean;
  }

  /** One of them; undefined if there is none. */
  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)];
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}

/** The streams of a seed. */
export function streamsOf(seed: number): Record<Concern, RandomStream> {
  const word = wordsOf(seed);
  const streams = CONCERNS.map((concern) => {
    return [concern, new RandomStream(Uint32Array.from({ length: 4 }, word))] as const;
  });
  return Object.fromEntries(streams) as Record<Concern, RandomStream>;
}

/** A stream that follows from a number alone. */
export function streamOf(seed: number): RandomStream {
  return new RandomStream(Uint32Array.from({ length: 4 }, wordsOf(seed)));
}

function wordsOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + GOLDEN) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
