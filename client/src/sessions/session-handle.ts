/** A session that its client renews. */

import { randomUUID } from "node:crypto";
import type { CallOptions, SessionGuard } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { callRulesWithoutRequestId, optionsCheck } from "../options/index.ts";
import type { SessionLife } from "./session-life.ts";

const checkEnd = optionsCheck<Omit<CallOptions, "requestId">>(callRulesWithoutRequestId);

/** A session that is renewed until it is ended or lost. */
export class SessionHandle implements AsyncDisposable {
  readonly #life: SessionLife;
  readonly #sendEnd: (call: CallOptions) => Promise<unknown>;
  readonly #endId = randomUUID();
  #ended: Promise<boolean> | undefined;

  constructor(life: SessionLife, sendEnd: (call: CallOptions) => Promise<unknown>) {
    this.#life = life;
    this.#sendEnd = sendEnd;
  }

  get namespace(): string {
    return this.#life.namespace;
  }

  /** Its id, for `sessionId` of puts and of conditions of transactions. */
  get id(): number {
    return this.#life.id;
  }

  /** Guards a write: it is executed only while the session lives. */
  get guard(): SessionGuard {
    return { sessionId: this.id };
  }

  /** The remaining time of the session without renewal, in milliseconds; 0 = it has ended, or may have. */
  get remainingMs(): number {
    return this.#life.remainingMs;
  }

  /** Whether the session certainly lives now. */
  get isLive(): boolean {
    return this.remainingMs > 0;
  }

  /**
   * Aborts when the session is lost, with the error as its reason: it has ended, or could not be renewed until its
   * deadline. `end` does not abort it. `aborted`, `reason` and `throwIfAborted` look at the clock.
   */
  get lost(): AbortSignal {
    return this.#life.lost;
  }

  /**
   * Ends the session, and everything that belongs to it. Further calls do nothing.
   *
   * @returns whether it was live until then.
   * @throws QuoinError if no member answers; the session is no longer renewed, and end may be called again.
   */
  async end(options: Omit<CallOptions, "requestId"> = {}): Promise<boolean> {
    checkEnd(options, "session.end");
    this.#ended ??= this.#end(options);
    return this.#ended;
  }

  /** Ends the session at the end of an `await using`. If no member answers, it ends at its deadline. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.end();
    } catch (error) {
      // What was done in the session is done.
      if (!(error instanceof QuoinError)) {
        throw error;
      }
    }
  }

  async #end(options: Omit<CallOptions, "requestId">): Promise<boolean> {
    if (this.lost.aborted) {
      return false;
    }
    this.#life.stop();
    try {
      await this.#sendEnd({ ...options, requestId: this.#endId });
      return true;
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      this.#ended = undefined;
      if (error.reason !== "SESSION_NOT_FOUND") {
        throw error;
      }
      this.#life.reportLoss(error);
      return false;
    }
  }
}
