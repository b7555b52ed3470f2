/**
 * The bytes of a connection on their way to its socket. Frames are appended to one buffer; the socket takes all of them at
 * once, and no more before it has written them.
 *
 * Bytes that the socket has not written stay in memory, so they are counted. Nothing here bounds them: who appends does.
 */
import type { BufferPool } from "./buffer-pool.ts";
import { HEAD_BYTES, writeHead, writeUint32 } from "./frame.ts";

const NO_BUFFER = Buffer.allocUnsafeSlow(0);

export class Output {
  /** Where the next bytes go. There is room for what `reserve` was called with. */
  bytes: Buffer = NO_BUFFER;
  /** Where the bytes end that were appended. What is written behind it is appended by moving it. */
  end = 0;
  readonly #pool: BufferPool;
  readonly #onFirst: () => void;
  /** What the socket is writing. */
  #taken: Buffer | null = null;
  #takenBytes = 0;

  /** @param onFirst is called when something is about to be appended and there was nothing to take */
  constructor(pool: BufferPool, onFirst: () => void) {
    this.#pool = pool;
    this.#onFirst = onFirst;
  }

  /** The bytes that the socket has not written yet. */
  get unwrittenBytes(): number {
    return this.end + this.#takenBytes;
  }

  /** Whether the socket has taken bytes and not written them yet. */
  get isTaken(): boolean {
    return this.#taken !== null;
  }

  /** Makes room for so many bytes behind `end`. */
  reserve(count: number): void {
    if (this.end === 0) {
      this.#onFirst();
    }
    if (this.bytes.length - this.end < count) {
      this.#grow(this.end + count);
    }
  }

  /** Appends a frame whose payload are 32 bits. */
  appendWord(type: number, streamId: number, word: number): void {
    this.reserve(HEAD_BYTES + 4);
    this.end = writeUint32(this.bytes, writeHead(this.bytes, this.end, 4, type, 0, streamId), word);
  }

  /** Appends a frame with this payload. */
  appendFrame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    this.reserve(HEAD_BYTES + payload.length);
    const at = writeHead(this.bytes, this.end, payload.length, type, flags, streamId);
    this.bytes.set(payload, at);
    this.end = at + payload.length;
  }

  /** All that was appended, for the socket to write; null if there is nothing, or if it has not written the last yet. */
  take(): Buffer | null {
    if (this.#taken !== null || this.end === 0) {
      return null;
    }
    const bytes = this.bytes.subarray(0, this.end);
    this.#taken = this.bytes;
    this.#takenBytes = this.end;
    this.bytes = NO_BUFFER;
    this.end = 0;
    return bytes;
  }

  /** The socket has written what it took: that memory is used again. */
  written(): void {
    if (this.#taken !== null) {
      this.#pool.put(this.#taken);
      this.#taken = null;
      this.#takenBytes = 0;
    }
  }

  #grow(bytesMin: number): void {
    const larger = this.#pool.take(bytesMin);
    this.bytes.copy(larger, 0, 0, this.end);
    if (this.bytes !== NO_BUFFER) {
      this.#pool.put(this.bytes);
    }
    this.bytes = larger;
  }
}
