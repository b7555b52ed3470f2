/** Hashes of byte arrays that their author cannot foresee. */

/** Rounds of the hash after the last word, for each of its two numbers. */
const LAST_ROUNDS = 3;

/** Two random signed 32-bit numbers. Clients choose keys and ids, and must not be able to choose some that collide. */
export type HashSeed = readonly [low: number, high: number];

/** Hashes bytes to two numbers: HalfSipHash-1-3 (Aumasson and Bernstein) with the seed as its key. */
export class KeyHash {
  readonly #seedLow: number;
  readonly #seedHigh: number;
  /** The result for the last hashed bytes: signed 32-bit numbers. */
  low = 0;
  high = 0;

  constructor([low, high]: HashSeed) {
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

const ofProcess = new KeyHash(crypto.getRandomValues(new Int32Array(2)) as unknown as HashSeed);

/** The hash of the bytes in the tables of this process: another one in each process. */
export function hashOf(bytes: Uint8Array): number {
  ofProcess.update(bytes, 0);
  return ofProcess.low;
}
