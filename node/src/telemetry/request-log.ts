/**
 * Log lines about requests: every request at level `debug`, slow ones at level `warn`.
 *
 * A line contains the method, the result, the duration and the request id; for HTTP also the address of the client. It
 * never contains the content of the request or the user. Only a limited number of slow requests per second get their
 * own line; the rest is counted. When all requests are slow, the log must still have space for the reason.
 */

const SLOW_LINES_PER_SECOND = 10;
const MS_PER_SECOND = 1000;

/** A request that was answered, or whose client is gone. */
export interface AnsweredRequest {
  readonly protocol: "grpc" | "connect" | "http";
  /** A name that the program knows: the full name of a method, or an HTTP method and the template of a route. */
  readonly method: string;
  /** Status of the answer. */
  readonly status: string;
  /** Null if the request had none. */
  readonly requestId: string | null;
  /** Why it failed, as one word; "" if it did not. */
  readonly reason: string;
  /** IP address of the client, if known. */
  readonly client?: string;
  /** 32 hexadecimal digits, under the name of OpenTelemetry; only if the request has a trace. */
  readonly trace_id?: string;
}

/** The part of a logger that this class needs. */
interface Lines {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  isLevelEnabled(level: string): boolean;
}

export class RequestLog {
  readonly #logger: Lines;
  readonly #slowMs: number;
  readonly #isDebug: boolean;
  readonly #monotonicMs: () => number;
  /** Start of the second in which slow lines are counted. */
  #secondMs = Number.NEGATIVE_INFINITY;
  #linesInSecond = 0;
  #suppressed = 0;

  /**
   * @param slowMs requests that take at least this many milliseconds are slow; 0 = none is.
   * @param monotonicMs milliseconds that never decrease.
   */
  constructor(logger: Lines, slowMs: number, monotonicMs: () => number) {
    this.#logger = logger;
    this.#slowMs = slowMs;
    this.#isDebug = logger.isLevelEnabled("debug");
    this.#monotonicMs = monotonicMs;
  }

  /**
   * A request is over.
   *
   * @param mayWait whether the client decides how long it takes, so that it is never slow.
   * @param describe returns the other fields; called only if a line is written.
   */
  add(durationMs: number, mayWait: boolean, describe: () => AnsweredRequest): void {
    const isSlow = !mayWait && this.#slowMs > 0 && durationMs >= this.#slowMs;
    if (this.#isDebug) {
      this.#logger.debug({ ...describe(), durationMs: rounded(durationMs) }, "request");
    }
    if (isSlow) {
      this.#addSlow(durationMs, describe);
    }
  }

  #addSlow(durationMs: number, describe: () => AnsweredRequest): void {
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#secondMs >= MS_PER_SECOND) {
      this.#secondMs = nowMs;
      this.#linesInSecond = 0;
    }
    if (this.#linesInSecond >= SLOW_LINES_PER_SECOND) {
      this.#suppressed++;
      return;
    }
    this.#linesInSecond++;
    const suppressed = this.#suppressed === 0 ? {} : { suppressed: this.#suppressed };
    this.#suppressed = 0;
    this.#logger.warn({ ...describe(), durationMs: rounded(durationMs), ...suppressed }, "slow request");
  }
}

function rounded(durationMs: number): number {
  return Math.round(durationMs * 1000) / 1000;
}
