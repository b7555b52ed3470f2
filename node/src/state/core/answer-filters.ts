/**
 * Filters that show, without a read, that a generation of stored answers does not contain an answer.
 *
 * They belong to this process only, and never change the result of a look-up. If a filter may contain the key, or is
 * not complete yet, the row is read. So a filter may err in one direction only: if a complete filter missed an existing
 * row, a mutation would run twice.
 */

import { latin1Of } from "../../bytes/index.ts";

/** Bits for each answer. With this many probes, about one look-up in 1,000 reads a row that does not exist. */
const BITS_PER_ANSWER = 16;
const PROBES = 6;
/** Answers of the smallest and of the largest chunk: 2 KiB and 8 MiB. */
const CHUNK_MIN = 1_024;
const CHUNK_MAX = 4 * 1024 * 1024;

/** The bits of a number of answers. */
interface Chunk {
  readonly bits: Int32Array;
  /** Number of bits minus one; the number of bits is a power of two. */
  readonly mask: number;
  readonly answersMax: number;
  answers: number;
}

/** A Bloom filter that grows in chunks; each chunk has the size for all answers before it. */
export class ChunkedFilter {
  readonly #chunks: Chunk[];

  /** @param expected likely number of answers; more of them cost memory and time, but not correctness */
  constructor(expected: number) {
    this.#chunks = [newChunk(expected)];
  }

  get chunks(): number {
    return this.#chunks.length;
  }

  /** Adds an element with these hashes. */
  add(low: number, high: number): void {
    let chunk = this.#chunks.at(-1) as Chunk;
    if (chunk.answers === chunk.answersMax) {
      chunk = newChunk(2 * chunk.answersMax);
      this.#chunks.push(chunk);
    }
    chunk.answers++;
    const { bits, mask } = chunk;
    // An odd step gives each probe another bit.
    const step = high | 1;
    for (let probe = 0, at = low; probe < PROBES; probe++, at = (at + step) | 0) {
      const bit = at & mask;
      bits[bit >>> 5] = (bits[bit >>> 5] as number) | (1 << (bit & 31));
    }
  }

  /** False only if no element with these hashes was added. */
  mayContain(low: number, high: number): boolean {
    for (const chunk of this.#chunks) {
      if (mayContain(chunk, low, high)) {
        return true;
      }
    }
    return false;
  }
}

function newChunk(expected: number): Chunk {
  const answersMax = 2 ** Math.ceil(Math.log2(Math.min(Math.max(expected, CHUNK_MIN), CHUNK_MAX)));
  const bitCount = answersMax * BITS_PER_ANSWER;
  return { bits: new Int32Array(bitCount / 32), mask: bitCount - 1, answersMax, answers: 0 };
}

function mayContain({ bits, mask }: Chunk, low: number, high: number): boolean {
  const step = high | 1;
  for (let probe = 0, at = low; probe < PROBES; probe++, at = (at + step) | 0) {
    const bit = at & mask;
    if (((bits[bit >>> 5] as number) & (1 << (bit & 31))) === 0) {
      return false;
    }
  }
  return true;
}

/**
 * The exact set of keys in generation 0, from which keys are removed one by one; null while there are too many for
 * memory.
 */
export class LiveKeys {
  readonly #countMax: number;
  readonly #from: number;
  #keys: Set<string> | null = new Set();

  /**
   * @param from where the part of a row's key begins that identifies it
   * @param countMax above this number of keys the set is dropped
   */
  constructor(from: number, countMax: number) {
    this.#from = from;
    this.#countMax = countMax;
  }

  /** Whether the set was dropped because there were too many keys. */
  get hasOverflowed(): boolean {
    return this.#keys === null;
  }

  /** Starts again with an empty set. */
  restart(): void {
    this.#keys = new Set();
  }

  add(key: Uint8Array): void {
    this.#keys?.add(this.#nameOf(key));
    if (this.#keys !== null && this.#keys.size > this.#countMax) {
      this.#keys = null;
    }
  }

  delete(key: Uint8Array): void {
    this.#keys?.delete(this.#nameOf(key));
  }

  has(key: Uint8Array): boolean {
    return this.#keys === null || this.#keys.has(this.#nameOf(key));
  }

  #nameOf(key: Uint8Array): string {
    return latin1Of(key, this.#from);
  }
}
