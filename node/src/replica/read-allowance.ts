/**
 * How many bytes of the state may be read for others: for members that are behind, and for backups, all together. It grows with
 * time, up to what one second allows.
 */

export class ReadAllowance {
  readonly #bytesPerSecond: number;
  #bytes: number;
  #grownMs: number;

  /** @param nowMs on the monotonic clock */
  constructor(bytesPerSecond: number, nowMs: number) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#bytes = bytesPerSecond;
    this.#grownMs = nowMs;
  }

  /** Whether a chunk may be read, of any size: what it is too large is missing later. */
  get isOpen(): boolean {
    return this.#bytes > 0;
  }

  /** Time has passed, up to here on the monotonic clock. */
  grow(nowMs: number): void {
    const grown = ((nowMs - this.#grownMs) * this.#bytesPerSecond) / 1000;
    this.#bytes = Math.min(this.#bytesPerSecond, this.#bytes + grown);
    this.#grownMs = nowMs;
  }

  /** So many bytes were read. */
  take(bytes: number): void {
    this.#bytes -= bytes;
  }
}
