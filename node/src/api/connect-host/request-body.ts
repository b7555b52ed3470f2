/** The body of a request as it arrives, in one buffer that grows with the received bytes and never beyond the limit. */

/** Memory for the first bytes, if the request does not announce fewer. */
const INITIAL_BYTES = 4 * 1_024;
const NO_BYTES = Buffer.alloc(0);

export class RequestBody {
  readonly bytesMax: number;
  #buffer: Buffer = NO_BYTES;
  #length = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The bytes so far. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /**
   * Adds a piece of the body. It copies the piece, which may be a small part of a much larger buffer. Returns false, and
   * changes nothing, if the body becomes larger than the limit.
   *
   * @param announcedBytes the length that the request announced; 0 = none.
   */
  add(piece: Buffer, announcedBytes: number): boolean {
    const length = this.#length + piece.length;
    if (length > this.bytesMax) {
      return false;
    }
    if (length > this.#buffer.length) {
      const first = Math.min(announcedBytes === 0 ? INITIAL_BYTES : announcedBytes, INITIAL_BYTES);
      const grown = Buffer.allocUnsafe(Math.min(this.bytesMax, Math.max(length, first, 2 * this.#buffer.length)));
      grown.set(this.bytes);
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
    return true;
  }

  /** Frees the memory. */
  discard(): void {
    this.#buffer = NO_BYTES;
    this.#length = 0;
  }
}
