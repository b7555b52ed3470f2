/**
 * A pool of send buffers. A connection has a buffer only while it has something to send. So thousands of idle
 * connections share the few buffers that busy connections need in the same turn.
 *
 * A buffer still contains the data that was written to it last.
 */

const BUFFER_BYTES_MIN = 16 * 1024;
/** Maximum size of a buffer that the pool keeps. */
const KEPT_BYTES_MAX = 512 * 1024;
/** Maximum bytes of all free buffers in the pool. */
const POOL_BYTES_MAX = 8 * 1024 * 1024;

export class BufferPool {
  /** Free buffers by their size. */
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;

  /** Bytes of all free buffers. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Returns a buffer of at least so many bytes; its size is a power of two. */
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

  /** Takes back a buffer from `take` that is no longer used. */
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
