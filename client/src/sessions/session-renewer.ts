/**
 * Renews all sessions of a client in one namespace, many in one call.
 *
 * A session is due after a third of its remaining life, a little earlier by chance so that clients do not all call at
 * once. A call renews those that are due, and those that are due soon. So sessions with one time to live are soon renewed
 * together. Without an answer it is repeated until the first deadline among its sessions, also at other members.
 */

import type { CallOptions, Persistence } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import type { Runtime } from "../transport/index.ts";
import type { SessionLife } from "./session-life.ts";
import type { RenewedSession } from "./session-messages.ts";

/** What the service has answered to a renewal, and when its request was not sent yet, on the runtime's clock. */
export interface Renewal {
  readonly sessions: readonly RenewedSession[];
  readonly attemptStartMs: number;
}

type Renew = (sessionIds: readonly number[], call: CallOptions, persistence: Persistence) => Promise<Renewal>;

/** The most sessions of one call. */
const SESSIONS_PER_CALL = 500;

/** Part of the remaining life after which a session is due: two thirds are left for retries. */
const DUE_AT = 1 / 3;

/** Part of this time by which it may be due earlier. */
const JITTER_SHARE = 0.1;

/** Part of this time after which a session goes with a call for others. */
const SOON_AT = 1 / 2;

/** Part of the remaining life that one member has to answer: others must have their turn too. */
const ATTEMPT_SHARE = 1 / 4;

/** The minimum time for one member, in milliseconds: less would abandon members that are only a little slow. */
const ATTEMPT_TIMEOUT_MIN_MS = 250;

/** Minimum pause before a renewal, also one that is repeated, in milliseconds. */
const PAUSE_MIN_MS = 100;

/** Pause between two calls of more sessions than one may have, in milliseconds: a member takes so many of a user in it. */
const CALL_PAUSE_MS = 100;

interface Scheduled {
  readonly life: SessionLife;
  /** On the runtime's clock. */
  readonly dueMs: number;
  /** When it may go with a call for others. */
  readonly soonMs: number;
}

export class SessionRenewer {
  readonly #runtime: Runtime;
  readonly #renew: Renew;
  /** Sessions that are not being renewed now. */
  readonly #waiting = new Map<number, Scheduled>();
  /** When the next call may be made. */
  #nextCallMs = Number.NEGATIVE_INFINITY;
  /** When the next session is due; Infinity = none. */
  #timerMs = Number.POSITIVE_INFINITY;
  #cancelTimer: () => void = () => undefined;

  constructor(runtime: Runtime, renew: Renew) {
    this.#runtime = runtime;
    this.#renew = renew;
  }

  /** Renews a live session until it is ended or lost. */
  add(life: SessionLife): void {
    if (this.#schedule(life) < this.#timerMs) {
      this.#setTimer();
    }
  }

  /** Returns when the session is due. */
  #schedule(life: SessionLife): number {
    const nowMs = this.#runtime.monotonicMs();
    const jitter = 1 - JITTER_SHARE * this.#runtime.random();
    const pauseMs = Math.max(PAUSE_MIN_MS, life.remainingMs * DUE_AT * jitter);
    this.#waiting.set(life.id, { life, dueMs: nowMs + pauseMs, soonMs: nowMs + pauseMs * SOON_AT });
    return nowMs + pauseMs;
  }

  #setTimer(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => undefined;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const [id, { life, dueMs: atMs }] of this.#waiting) {
      if (life.hasStopped) {
        this.#waiting.delete(id);
      } else {
        dueMs = Math.min(dueMs, atMs);
      }
    }
    this.#timerMs = dueMs;
    if (dueMs < Number.POSITIVE_INFINITY) {
      const delayMs = Math.max(0, Math.max(dueMs, this.#nextCallMs) - this.#runtime.monotonicMs());
      this.#cancelTimer = this.#runtime.after(delayMs, () => this.#renewDue());
    }
  }

  #renewDue(): void {
    const nowMs = this.#runtime.monotonicMs();
    const due = [...this.#waiting.values()].filter(({ life, soonMs }) => !life.hasStopped && soonMs <= nowMs);
    if (due.length > SESSIONS_PER_CALL) {
      due.sort((one, other) => one.dueMs - other.dueMs);
      this.#nextCallMs = nowMs + CALL_PAUSE_MS;
    }
    const together = due.slice(0, SESSIONS_PER_CALL).map(({ life }) => life);
    for (const { id } of together) {
      this.#waiting.delete(id);
    }
    if (together.length > 0) {
      void this.#renewTogether(together);
    }
    this.#setTimer();
  }

  async #renewTogether(together: readonly SessionLife[]): Promise<void> {
    try {
      await this.#call(together);
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      for (const life of together) {
        life.notRenewed(error);
      }
      // A retry cannot help a caller without rights. The session lasts until its deadline.
      if (error.code === "PERMISSION_DENIED") {
        return;
      }
    }
    for (const life of together) {
      if (!life.hasStopped) {
        this.#schedule(life);
      }
    }
    this.#setTimer();
  }

  async #call(together: readonly SessionLife[]): Promise<void> {
    const timeoutMs = Math.max(1, Math.min(...together.map(({ remainingMs }) => remainingMs)));
    const attemptTimeoutMs = Math.max(ATTEMPT_TIMEOUT_MIN_MS, timeoutMs * ATTEMPT_SHARE);
    const persistence = { maxAttempts: Number.POSITIVE_INFINITY, attemptTimeoutMs };
    const ids = together.map(({ id }) => id);
    const { sessions, attemptStartMs } = await this.#renew(ids, { timeoutMs }, persistence);
    const remaining = new Map(sessions.map(({ sessionId, expiresInMs }) => [sessionId, expiresInMs]));
    for (const life of together) {
      const expiresInMs = remaining.get(life.id) ?? 0;
      if (expiresInMs === 0) {
        life.lose(undefined, "the service has no such session of this user");
      } else {
        life.renewed(attemptStartMs + expiresInMs);
      }
    }
  }
}
