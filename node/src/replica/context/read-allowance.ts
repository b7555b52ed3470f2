/**
 * A rate limit on reads of the state: for members that are behind and for backups together. It is a token bucket that
 * holds at most the bytes of one second.
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

  /**
   * Whether a chunk of any size may be read. A large chunk makes the allowance negative, which delays the next ones.
   */
  get isOpen(): boolean {
    return this.#bytes > 0;
  }

  /** Refills the bucket up to `nowMs` on the monotonic clock. */
  grow(nowMs: number): void {
    const grown = ((nowMs - this.#grownMs) * this.#bytesPerSecond) / 1000;
    this.#bytes = Math.min(this.#bytesPerSecond, this.#bytes + grown);
    this.#grownMs = nowMs;
  }

  /** Accounts for bytes that were read. */
  take(bytes: number): void {
    this.#bytes -= bytes;
  }
}
