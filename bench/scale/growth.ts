/** Writes many keys, in transactions of 100 puts. */

import { randomBytes, randomInt } from "node:crypto";
import type { Client } from "@quoin/client";

const NAMESPACE = "default";
export const PUTS_PER_TRANSACTION = 100;
/** Odd, so that the products with all numbers below 2^32 differ in their last 32 bits. */
const SCATTER = 2_654_435_761n;
const BITS = 32;
const HEX_DIGITS = 8;
const RANDOM_BYTES = 1_024 * 1_024;

export class Growth {
  readonly #clients: readonly Client[];
  readonly #valueBytes: number;
  readonly #inFlight: number;
  /** Values are parts of this. */
  readonly #random: Buffer;
  #written = 0;
  #begun = 0;

  /** @param clients one for each member. */
  constructor(clients: readonly Client[], valueBytes: number, inFlight: number) {
    this.#clients = clients;
    this.#valueBytes = valueBytes;
    this.#inFlight = inFlight;
    this.#random = randomBytes(RANDOM_BYTES + valueBytes);
  }

  /** Keys that are acknowledged. */
  get written(): number {
    return this.#written;
  }

  /**
   * Writes until there are so many keys. Rejects with the first error, when nothing is in flight any more.
   *
   * @param check is called before each transaction, and ends everything with its error.
   */
  async writeUntil(keys: number, check: () => void): Promise<void> {
    let failure: unknown = null;
    const work = async (worker: number): Promise<void> => {
      while (this.#begun < keys && failure === null) {
        const first = this.#begun;
        const count = Math.min(PUTS_PER_TRANSACTION, keys - first);
        this.#begun += count;
        try {
          check();
          await this.#write(this.#clients[worker % this.#clients.length] as Client, first, count);
          this.#written += count;
        } catch (error) {
          failure ??= error;
        }
      }
    };
    await Promise.all(Array.from({ length: this.#inFlight }, (_, worker) => work(worker)));
    if (failure !== null) {
      throw failure;
    }
  }

  async #write(client: Client, first: number, count: number): Promise<void> {
    const puts = Array.from({ length: count }, (_, at) => ({ put: { key: keyOf(first + at), value: this.#value() } }));
    await client
      .transaction(NAMESPACE)
      .then(...puts)
      .commit();
  }

  #value(): Buffer {
    const start = randomInt(RANDOM_BYTES);
    return this.#random.subarray(start, start + this.#valueBytes);
  }
}

/** The key with this number, below 2^32. Consecutive numbers have keys far apart, as those of real clients are. */
export function keyOf(number: number): string {
  const scattered = BigInt.asUintN(BITS, BigInt(number) * SCATTER);
  return `scale/${scattered.toString(16).padStart(HEX_DIGITS, "0")}`;
}
