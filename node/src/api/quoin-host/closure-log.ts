/** Tells the log which connections were closed because of what their clients did: at most one line in a while. */

/** A log for it. A pino logger is one. */
export interface ClosureSink {
  warn(fields: object, message: string): void;
}

/** Clients that connect again and again must not fill the log. */
const LINE_INTERVAL_MS = 1_000;

export class ClosureLog {
  readonly #sink: ClosureSink;
  readonly #port: string;
  readonly #monotonicMs: () => number;
  #loggedMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor(sink: ClosureSink, port: string, monotonicMs: () => number) {
    this.#sink = sink;
    this.#port = port;
    this.#monotonicMs = monotonicMs;
  }

  /** @param address of the client, with its port. */
  closed(reason: string, address: string): void {
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#loggedMs < LINE_INTERVAL_MS) {
      this.#unlogged++;
      return;
    }
    this.#sink.warn(
      { port: this.#port, reason, address, notLogged: this.#unlogged },
      "a connection was closed because of what its client did",
    );
    this.#loggedMs = nowMs;
    this.#unlogged = 0;
  }
}
