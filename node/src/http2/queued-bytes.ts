/**
 * The bytes of answers that wait in all connections of a server together. Each connection has a bound of its own, but there
 * may be thousands of them, and requests that have arrived already are answered above it.
 */

export class QueuedBytes {
  readonly #bytesMax: number;
  readonly #onExceeded: () => void;
  #bytes = 0;

  /** @param onExceeded is called while there are more than `bytesMax` bytes, whenever some are added. */
  constructor(bytesMax: number, onExceeded: () => void) {
    this.#bytesMax = bytesMax;
    this.#onExceeded = onExceeded;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isExceeded(): boolean {
    return this.#bytes > this.#bytesMax;
  }

  add(count: number): void {
    this.#bytes += count;
    if (this.isExceeded) {
      this.#onExceeded();
    }
  }

  remove(count: number): void {
    this.#bytes -= count;
  }
}
