/**
 * Lines about requests: each one at level `debug`, and those that took long at level `warn`.
 *
 * A line says which method, what came of it and how long it took, and carries the request id; of HTTP also the address of
 * the client. It never says what was in the request, or which user sent it. Of slow ones only so many a second get a line of their own, the rest is counted: when all are
 * slow, there must be room in the log for the reason.
 */

const SLOW_LINES_PER_SECOND = 10;
const MS_PER_SECOND = 1000;

/** A request that has been answered, or whose client is gone. */
export interface AnsweredRequest {
  readonly protocol: "grpc" | "http";
  /** A name that the program knows: the full name of a method, or a method and the template of a route. */
  readonly method: string;
  /** Of the answer. */
  readonly status: string;
  /** Null if the request had none. */
  readonly requestId: string | null;
  /** Why it failed, in a word; "" if it did not. */
  readonly reason: string;
  /** IP address of the client, where it is known. */
  readonly client?: string;
}

/** What is needed of a logger. */
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
  /** Begin of the second in which lines about slow requests are counted. */
  #secondMs = Number.NEGATIVE_INFINITY;
  #linesInSecond = 0;
  #suppressed = 0;

  /**
   * @param slowMs what takes at least so many milliseconds is slow; 0 = nothing is.
   * @param monotonicMs milliseconds that only grow.
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
   * @param mayWait whether it takes as long as its client asks for, so that it is never slow.
   * @param describe says the rest, if there is to be a line.
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
