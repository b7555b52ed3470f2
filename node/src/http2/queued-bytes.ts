/**
 * Counts the queued bytes of answers in all connections of a server. Each connection has its own limit, but there may
 * be thousands of connections, and requests that are executed already are answered above that limit.
 */

/** Of the limit, what may be queued after connections were closed: closing them looks at all connections. */
const ROOMY_SHARE = 7 / 8;

export class QueuedBytes {
  readonly #bytesMax: number;
  readonly #onExceeded: () => void;
  #bytes = 0;

  /** @param onExceeded called each time bytes are added while there are more than `bytesMax`. */
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

  /** Whether an eighth of the limit is free. */
  get hasRoom(): boolean {
    return this.#bytes <= this.#bytesMax * ROOMY_SHARE;
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
