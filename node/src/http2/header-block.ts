/**
 * Assembles a header block that arrives in several frames (RFC 9113 §4.3). No other frame may come between them, so a
 * connection needs at most one. Its bytes and its frames are bounded.
 */

const BLOCK_BYTES_MIN = 1_024;

export type BlockProblem = "header-block-too-large" | "too-many-continuations";

export class HeaderBlock {
  readonly #bytesMax: number;
  readonly #framesMax: number;
  /** The stream of the incomplete block; 0 if there is none. */
  streamId = 0;
  /** Whether the stream ends with this block. */
  endsStream = false;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;
  #frames = 0;

  constructor(bytesMax: number, framesMax: number) {
    this.#bytesMax = bytesMax;
    this.#framesMax = framesMax;
  }

  /** The buffer; the parts so far are its first `length` bytes. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  begin(streamId: number, endsStream: boolean): void {
    this.streamId = streamId;
    this.endsStream = endsStream;
    this.#length = 0;
    this.#frames = 0;
  }

  /** Adds the part of the next frame. Returns the limit that it exceeds; null if none. */
  add(bytes: Uint8Array, from: number, to: number): BlockProblem | null {
    this.#frames++;
    // The first frame is HEADERS.
    if (this.#frames > 1 + this.#framesMax) {
      return "too-many-continuations";
    }
    const length = this.#length + to - from;
    if (length > this.#bytesMax) {
      return "header-block-too-large";
    }
    this.#ensureCapacity(length);
    this.#bytes.set(bytes.subarray(from, to), this.#length);
    this.#length = length;
    return null;
  }

  /** Frees the memory of a block that is complete or abandoned. */
  end(): void {
    this.streamId = 0;
    this.#length = 0;
    this.#bytes = new Uint8Array(0);
  }

  #ensureCapacity(length: number): void {
    if (this.#bytes.length < length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length, BLOCK_BYTES_MIN));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
  }
}
