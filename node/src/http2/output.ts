/**
 * The output buffer of a connection. Frames are appended to one buffer. The socket takes all of them at once, and takes
 * more only after it has written them.
 *
 * Bytes that the socket has not written stay in memory, so they are counted. The code that appends must limit them.
 */
import type { BufferPool } from "./buffer-pool.ts";
import { HEAD_BYTES, writeHead, writeUint32 } from "./frame.ts";

const NO_BUFFER = Buffer.allocUnsafeSlow(0);

export class Output {
  /** The buffer. After `end` it has space for the bytes that `reserve` was called with. */
  bytes: Buffer = NO_BUFFER;
  /** The end of the appended bytes. To append, write after it and then move it. */
  end = 0;
  readonly #pool: BufferPool;
  readonly #onFirst: () => void;
  /** The bytes that the socket is writing. */
  #taken: Buffer | null = null;
  #takenBytes = 0;

  /** @param onFirst called before something is appended to an empty buffer */
  constructor(pool: BufferPool, onFirst: () => void) {
    this.#pool = pool;
    this.#onFirst = onFirst;
  }

  /** Number of bytes that the socket has not written yet. */
  get unwrittenBytes(): number {
    return this.end + this.#takenBytes;
  }

  /** Whether the socket has taken bytes that it has not written yet. */
  get isTaken(): boolean {
    return this.#taken !== null;
  }

  /** Makes space for so many bytes after `end`. */
  reserve(count: number): void {
    if (this.end === 0) {
      this.#onFirst();
    }
    if (this.bytes.length - this.end < count) {
      this.#grow(this.end + count);
    }
  }

  /** Appends a frame whose payload is 32 bits. */
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

  /**
   * Returns all appended bytes for the socket; null if there are none, or if it has not written the previous ones yet.
   */
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

  /** Call it when the socket has written the bytes that it took; their memory is reused. */
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
