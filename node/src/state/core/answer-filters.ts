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
/** Rounds of the hash after the last word, for each of its two numbers. */
const LAST_ROUNDS = 3;

/** Two random signed 32-bit numbers. Clients choose request ids, and must not be able to choose ids that collide. */
export type FilterSeed = readonly [low: number, high: number];

/** Hashes bytes to two numbers: HalfSipHash-1-3 (Aumasson and Bernstein) with the seed as its key. */
export class KeyHash {
  readonly #seedLow: number;
  readonly #seedHigh: number;
  /** The result for the last hashed bytes: signed 32-bit numbers. */
  low = 0;
  high = 0;

  constructor([low, high]: FilterSeed) {
    this.#seedLow = low;
    this.#seedHigh = high;
  }

  /** Hashes the bytes from `from` to the end. */
  update(bytes: Uint8Array, from: number): void {
    const words = ((bytes.length - from) >>> 2) + 1;
    let v0 = this.#seedLow;
    let v1 = this.#seedHigh ^ 0xee;
    let v2 = 0x6c796765 ^ v0;
    let v3 = 0x74656462 ^ this.#seedHigh;
    for (let at = 0; at < words + 2 * LAST_ROUNDS; at++) {
      const word = at < words ? wordAt(bytes, from + 4 * at, bytes.length - from) : 0;
      v3 ^= word;
      if (at === words) {
        v2 ^= 0xee;
      } else if (at === words + LAST_ROUNDS) {
        this.low = v1 ^ v3;
        v1 ^= 0xdd;
      }
      v0 = (v0 + v1) | 0;
      v1 = rotated(v1, 5) ^ v0;
      v0 = rotated(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = rotated(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = rotated(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = rotated(v1, 13) ^ v2;
      v2 = rotated(v2, 16);
      v0 ^= word;
    }
    this.high = v1 ^ v3;
  }
}

/** The next four bytes; at the end, the length fills the last byte. */
function wordAt(bytes: Uint8Array, at: number, length: number): number {
  if (at + 4 <= bytes.length) {
    return (
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    );
  }
  let word = length << 24;
  for (let shift = 0, next = at; next < bytes.length; next++, shift += 8) {
    word |= (bytes[next] as number) << shift;
  }
  return word;
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

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
