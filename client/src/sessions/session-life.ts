/**
 * The life of a session as its client knows it: until when it lives for certain, and whether it is lost.
 *
 * The deadline is measured on the client's own clock from before the request, so it errs early (S23): the client sees the
 * loss before the cluster ends the session. A paused process still sees it late, and the session may have ended by then.
 *
 * No timer keeps the process alive.
 */

import { watchReads } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import type { Runtime } from "../transport/index.ts";

export class SessionLife {
  readonly namespace: string;
  readonly id: number;
  readonly #runtime: Runtime;
  readonly #loss = new AbortController();
  #deadlineMs: number;
  #hasStopped = false;
  #lastFailure: QuoinError | undefined;
  #cancelDeadline: () => void = () => undefined;

  /** @param deadlineMs when the session ends without renewal, on the runtime's clock. */
  constructor(runtime: Runtime, namespace: string, id: number, deadlineMs: number) {
    this.namespace = namespace;
    this.id = id;
    this.#runtime = runtime;
    this.#deadlineMs = deadlineMs;
    watchReads(this.#loss.signal, () => {
      if (this.remainingMs === 0) {
        this.lose(this.#lastFailure);
      }
    });
    this.#watchDeadline();
  }

  /** Whether it is ended or lost: it is not renewed any more. */
  get hasStopped(): boolean {
    return this.#hasStopped;
  }

  /** The remaining time without renewal, in milliseconds; 0 = it has ended, or may have. */
  get remainingMs(): number {
    return this.#hasStopped ? 0 : Math.max(0, this.#deadlineMs - this.#runtime.monotonicMs());
  }

  /** Aborts at the loss, not after `stop`. Its properties look at the clock. */
  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  /** The session lives until this time on the runtime's clock. */
  renewed(deadlineMs: number): void {
    if (!this.#hasStopped) {
      this.#lastFailure = undefined;
      this.#deadlineMs = deadlineMs;
      this.#watchDeadline();
    }
  }

  /** A renewal has failed; the loss reports the last failure. */
  notRenewed(cause: QuoinError): void {
    this.#lastFailure = cause;
  }

  /** The session is ended by its client. */
  stop(): void {
    this.#hasStopped = true;
    this.#cancelDeadline();
  }

  /** The session is lost, unless it has been lost or stopped before. */
  lose(cause: QuoinError | undefined, why?: string): void {
    if (!this.#hasStopped) {
      this.stop();
      this.reportLoss(cause, why);
    }
  }

  /** Aborts the signal. */
  reportLoss(cause: QuoinError | undefined, why = cause?.message ?? "it was not renewed in time"): void {
    const error = new QuoinError({
      code: "FAILED_PRECONDITION",
      reason: "SESSION_LOST",
      outcome: "not-executed",
      message: `session ${this.id} of namespace ${this.namespace} has ended: ${why}`,
      details: new Map([["session_id", String(this.id)]]),
      cause,
    });
    this.#loss.abort(error);
  }

  #watchDeadline(): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#runtime.after(this.remainingMs, () => this.lose(this.#lastFailure));
  }
}
