/**
 * A rate limit for warnings that clients can cause as often as they like. A logged warning contains the number of
 * warnings that were dropped before it.
 */

/** The log that gets the warnings, such as a pino logger. */
export interface WarningLog {
  warn(fields: object, message: string): void;
}

export class SparseLog {
  readonly #log: WarningLog;
  readonly #intervalMs: number;
  readonly #monotonicMs: () => number;
  #loggedMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  /**
   * @param intervalMs minimum milliseconds between two warnings.
   * @param monotonicMs monotonic clock in milliseconds.
   */
  constructor(log: WarningLog, intervalMs: number, monotonicMs: () => number) {
    this.#log = log;
    this.#intervalMs = intervalMs;
    this.#monotonicMs = monotonicMs;
  }

  warn(fields: object, message: string): void {
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#loggedMs < this.#intervalMs) {
      this.#unlogged++;
      return;
    }
    this.#log.warn({ ...fields, notLogged: this.#unlogged }, message);
    this.#loggedMs = nowMs;
    this.#unlogged = 0;
  }
}
