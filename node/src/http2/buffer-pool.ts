/**
 * Memory for what connections are about to send. A connection has a buffer only while it has something to send, so that
 * thousands of idle connections share the few buffers of those that are busy in the same turn.
 *
 * A buffer comes with whatever was written to it last.
 */

const BUFFER_BYTES_MIN = 16 * 1024;
/** A larger buffer is not kept. */
const KEPT_BYTES_MAX = 512 * 1024;
/** So many bytes are kept for later at most. */
const POOL_BYTES_MAX = 8 * 1024 * 1024;

export class BufferPool {
  /** Free buffers by their size. */
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;

  /** The bytes of all buffers that are kept for later. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** A buffer of at least so many bytes: their number is a power of two. */
  take(bytesMin: number): Buffer {
    let size = BUFFER_BYTES_MIN;
    while (size < bytesMin) {
      size *= 2;
    }
    const free = this.#free.get(size)?.pop();
    if (free === undefined) {
      return Buffer.allocUnsafeSlow(size);
    }
    this.#freeBytes -= size;
    return free;
  }

  /** Takes back a buffer that `take` returned and that nothing uses any more. */
  put(buffer: Buffer): void {
    const size = buffer.length;
    if (size > KEPT_BYTES_MAX || this.#freeBytes + size > POOL_BYTES_MAX) {
      return;
    }
    const free = this.#free.get(size);
    if (free === undefined) {
      this.#free.set(size, [buffer]);
    } else {
      free.push(buffer);
    }
    this.#freeBytes += size;
  }
}
