/**
 * Reads exact numbers of bytes from a stream of chunks of any size. It keeps the current chunk, and never allocates
 * memory before the bytes have arrived: a false length costs nothing.
 */

import { BackupError } from "./backup-error.ts";

/** Bytes in chunks of any size, as they come from files, sockets and stores. */
export type ByteStream = AsyncIterable<Uint8Array>;

const NOTHING = new Uint8Array(0);

export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = NOTHING;
  #offset = 0;
  #isEnded = false;
  #bytesRead = 0;

  constructor(stream: ByteStream) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** How many bytes were read. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Reads exactly this many bytes. Raises a BackupError (cut-off) if there are fewer. */
  async read(length: number): Promise<Uint8Array> {
    const bytes = await this.readUpTo(length);
    if (bytes.length < length) {
      throw new BackupError(
        "cut-off",
        `it ends after ${this.#bytesRead} bytes, in the middle: the end is missing. Copy it again from where it was made, or use another backup`,
      );
    }
    return bytes;
  }

  /** Reads this many bytes, or all that are left. */
  async readUpTo(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let missing = length;
    while (missing > 0 && (await this.#fill())) {
      const part = this.#chunk.subarray(this.#offset, this.#offset + missing);
      this.#offset += part.length;
      missing -= part.length;
      parts.push(part);
    }
    this.#bytesRead += length - missing;
    return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  }

  /** Returns the next bytes without taking them; fewer only at the end. */
  async peek(length: number): Promise<Uint8Array> {
    const bytes = await this.readUpTo(length);
    this.#bytesRead -= bytes.length;
    this.#chunk = Buffer.concat([bytes, this.#chunk.subarray(this.#offset)]);
    this.#offset = 0;
    return bytes;
  }

  /** Whether all bytes were read. */
  async isAtEnd(): Promise<boolean> {
    return !(await this.#fill());
  }

  /** All remaining bytes, as a stream. */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      while (await this.#fill()) {
        const part = this.#chunk.subarray(this.#offset);
        this.#chunk = NOTHING;
        this.#offset = 0;
        this.#bytesRead += part.length;
        yield part;
      }
    } finally {
      await this.close();
    }
  }

  /** Ends the stream, read to its end or not. */
  async close(): Promise<void> {
    this.#isEnded = true;
    this.#chunk = NOTHING;
    this.#offset = 0;
    await this.#chunks.return?.();
  }

  /** @returns whether the current chunk has bytes left, after fetching the next one if necessary */
  async #fill(): Promise<boolean> {
    while (this.#offset === this.#chunk.length) {
      if (this.#isEnded) {
        return false;
      }
      const next = await this.#chunks.next();
      if (next.done === true) {
        this.#isEnded = true;
        return false;
      }
      this.#chunk = next.value;
      this.#offset = 0;
    }
    return true;
  }
}
