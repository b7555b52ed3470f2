/**
 * Warnings that clients can cause as often as they like: at most one in a while reaches the log. It says how many were left
 * out before it.
 */

/** Where the warnings go. A pino logger is one. */
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
   * @param intervalMs milliseconds from one warning to the next.
   * @param monotonicMs milliseconds that only grow.
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
