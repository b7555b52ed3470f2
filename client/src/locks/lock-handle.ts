/**
 * A hold of a lock that renews itself.
 *
 * It is renewed after a third of its life. Without an answer it is retried until its deadline, also on other members: a
 * missing leader never ends a hold before its time (rule S30). The deadline errs early (rule S23), so a user of the
 * handle sees the loss before another client gets the lock. A paused process still sees it late: it must guard
 * everything that must not happen then, by `guard` or by comparing `token`.
 *
 * No timer of a handle keeps the process alive.
 */

import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { type CallOptions, type Guard, type Persistence, watchReads } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { callRulesWithoutRequestId, optionsCheck } from "../options/index.ts";
import type { Runtime } from "../transport/index.ts";
import type { AcquireOptions, Grant } from "./lock-messages.ts";

/** Options of a hold that is renewed. */
export interface HoldOptions extends AcquireOptions {
  /** Label of the holder, at most 256 bytes. Default: random, the same for all holds of this process. */
  readonly owner?: string | undefined;
  /** How long to wait while others hold the lock, in milliseconds; 0 = try once. Default 30,000. */
  readonly waitMs?: number | undefined;
  /** Ends the wait for the lock; the hold itself ends with `release`. */
  readonly signal?: AbortSignal | undefined;
}

/** The parts of a handle. */
export interface HandleParts {
  readonly runtime: Runtime;
  readonly held: { readonly namespace: string; readonly name: string; readonly owner: string };
  readonly grant: Grant;
  /** Renews the hold with this token. */
  readonly renew: (fencingToken: number, call: CallOptions, persistence: Persistence) => Promise<Grant>;
  /** Releases the hold with this token. */
  readonly release: (fencingToken: number, call: CallOptions) => Promise<void>;
}

/** The label of the holds of this process, so that the description of a lock shows different holders. */
const PROCESS_OWNER = randomUUID();

/** The default life of a hold: if its holder died, the hold has ended by then. */
const DEFAULT_WAIT_MS = 30_000;

/** Part of its life after which a hold is renewed: two thirds are left for retries. */
const RENEW_AT = 1 / 3;

/** Part of the remaining life that one member has to answer a renewal: others must have their turn too. */
const ATTEMPT_SHARE = 1 / 4;

/** The minimum time for one member, in milliseconds: less would abandon members that are only a little slow. */
const ATTEMPT_TIMEOUT_MIN_MS = 250;

/**
 * Minimum pause before a refused renewal is retried, in milliseconds. Retries come faster as the deadline comes nearer.
 */
const RENEWAL_PAUSE_MIN_MS = 100;

/** Reasons that show for certain that the hold has ended. */
const LOSS_REASONS: ReadonlySet<string> = new Set([
  "LOCK_LOST",
  "NOT_LOCK_HOLDER",
  "LOCK_NOT_FOUND",
  "NAMESPACE_NOT_FOUND",
]);

const checkRelease = optionsCheck<Omit<CallOptions, "requestId">>(callRulesWithoutRequestId);

/** A hold of an exclusive lock. It emits `lost`, once, if the hold ended without a release. */
export class LockHandle extends EventEmitter<{ lost: [error: QuoinError] }> implements AsyncDisposable {
  readonly namespace: string;
  readonly name: string;
  /** Label of the hold. */
  readonly owner: string;
  readonly #parts: HandleParts;
  readonly #loss = new AbortController();
  readonly #end = new AbortController();
  readonly #releaseId = randomUUID();
  #grant: Grant;
  #hasEnded = false;
  /** Renewals and changes of the hold, one after the other: a renewal that overtook a change would undo it. */
  #lastChange: Promise<unknown> = Promise.resolve();
  #released: Promise<boolean> | undefined;
  #lastFailure: QuoinError | undefined;
  #cancelRenewal: () => void = () => undefined;
  #cancelDeadline: () => void = () => undefined;

  constructor(parts: HandleParts) {
    super();
    ({ namespace: this.namespace, name: this.name, owner: this.owner } = parts.held);
    this.#parts = parts;
    this.#grant = parts.grant;
    watchReads(this.#loss.signal, () => {
      if (this.remainingMs === 0) {
        this.#lose(this.#lastFailure);
      }
    });
    this.#watchDeadline();
    this.#scheduleRenewal();
  }

  /** Fencing token: greater than those of all earlier holds of any lock. */
  get token(): number {
    return this.#grant.fencingToken;
  }

  /** When the hold ends without renewal, on the runtime's clock, which is `performance.now()`. */
  get deadlineMs(): number {
    return this.#grant.deadlineMs;
  }

  /** The remaining time of the hold without renewal, in milliseconds; 0 = it has ended. */
  get remainingMs(): number {
    return this.#hasEnded ? 0 : Math.max(0, this.#grant.deadlineMs - this.#parts.runtime.monotonicMs());
  }

  /** Whether the lock is certainly held now. */
  get isHeld(): boolean {
    return this.remainingMs > 0;
  }

  /**
   * Aborts when the hold is lost, with the error as its reason. A release does not abort it. `aborted`, `reason` and
   * `throwIfAborted` look at the clock: they do not wait for the timer of a process that was busy beyond the deadline.
   */
  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  /** Makes a write take effect only while this hold is live: `client.keyValue.put(…, { guard: handle.guard })`. */
  get guard(): Guard {
    return { lockName: this.name, fencingToken: this.token };
  }

  /**
   * Releases the lock; the next waiter gets it at once. Further calls do nothing.
   *
   * @returns whether the lock was held until then.
   * @throws QuoinError if no member answers; the hold is no longer renewed, and release may be called again.
   */
  async release(options: Omit<CallOptions, "requestId"> = {}): Promise<boolean> {
    checkRelease(options, "release");
    this.#released ??= this.#sendRelease(options);
    return this.#released;
  }

  /** Releases the lock at the end of an `await using`. If no member answers, the hold ends at its deadline. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.release();
    } catch (error) {
      // The work under the lock is done; a longer wait of others must not make it a failure.
      if (!(error instanceof QuoinError)) {
        throw error;
      }
    }
  }

  /**
   * Changes the hold when no renewal is in progress; the next renewal uses the changed hold.
   *
   * @param change gets the remaining time, and returns the changed hold.
   * @throws QuoinError of the change; FAILED_PRECONDITION / LOCK_LOST if the hold has ended.
   */
  protected async change(change: (call: CallOptions, persistence: Persistence) => Promise<Grant>): Promise<void> {
    const changed = this.#lastChange.then(() => this.#changeNow(change));
    this.#lastChange = changed.catch(() => undefined);
    await changed;
  }

  async #changeNow(change: (call: CallOptions, persistence: Persistence) => Promise<Grant>): Promise<void> {
    if (this.#hasEnded) {
      throw this.#lossError(this.#lastFailure);
    }
    this.#cancelRenewal();
    const timeoutMs = Math.max(1, this.remainingMs);
    const attemptTimeoutMs = Math.max(ATTEMPT_TIMEOUT_MIN_MS, timeoutMs * ATTEMPT_SHARE);
    try {
      this.#grant = await change({ timeoutMs }, { maxAttempts: Number.POSITIVE_INFINITY, attemptTimeoutMs });
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      this.#lastFailure = error;
      if (!this.#hasEnded && LOSS_REASONS.has(error.reason)) {
        this.#lose(error);
      }
      // A retry cannot help a caller without rights. The hold lasts until its deadline.
      if (error.code !== "PERMISSION_DENIED") {
        this.#scheduleRenewal();
      }
      throw error;
    }
    if (this.#hasEnded) {
      return;
    }
    this.#lastFailure = undefined;
    this.#watchDeadline();
    this.#scheduleRenewal();
  }

  #scheduleRenewal(): void {
    if (this.#hasEnded) {
      return;
    }
    const delayMs = Math.max(RENEWAL_PAUSE_MIN_MS, this.remainingMs * RENEW_AT);
    this.#cancelRenewal = this.#parts.runtime.after(delayMs, () => {
      const renewed = this.change(({ timeoutMs }, persistence) =>
        this.#parts.renew(this.token, { timeoutMs, signal: this.#end.signal }, persistence),
      );
      // It is retried until the deadline; the loss then reports the last failure.
      renewed.catch(() => undefined);
    });
  }

  #watchDeadline(): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#parts.runtime.after(this.remainingMs, () => this.#lose(this.#lastFailure));
  }

  #lose(cause: QuoinError | undefined): void {
    if (this.#hasEnded) {
      return;
    }
    this.#stop();
    this.#reportLoss(cause);
  }

  #reportLoss(cause: QuoinError | undefined): void {
    const error = this.#lossError(cause);
    this.#loss.abort(error);
    // In a microtask, so that an error of a listener does not affect this code.
    queueMicrotask(() => this.emit("lost", error));
  }

  #stop(): void {
    this.#hasEnded = true;
    this.#cancelRenewal();
    this.#cancelDeadline();
    this.#end.abort();
  }

  async #sendRelease(options: Omit<CallOptions, "requestId">): Promise<boolean> {
    if (this.signal.aborted) {
      return false;
    }
    this.#stop();
    // A change in progress may give the hold another token.
    await this.#lastChange;
    try {
      await this.#parts.release(this.token, { ...options, requestId: this.#releaseId });
      return true;
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      this.#released = undefined;
      if (!LOSS_REASONS.has(error.reason)) {
        throw error;
      }
      this.#reportLoss(error);
      return false;
    }
  }

  #lossError(cause: QuoinError | undefined): QuoinError {
    const why = cause === undefined ? "it was not renewed in time" : cause.message;
    return new QuoinError({
      code: "FAILED_PRECONDITION",
      reason: "LOCK_LOST",
      outcome: "not-executed",
      message: `the hold of lock ${this.name} with token ${this.token} has ended: ${why}`,
      details: new Map([
        ["lock", this.name],
        ["fencing_token", String(this.token)],
      ]),
      cause,
    });
  }
}

/**
 * Runs work under a hold, and always releases the hold.
 *
 * @throws the error of the work; FAILED_PRECONDITION / LOCK_LOST if the hold ended before the work.
 */
export async function withHandle<Handle extends LockHandle, Result>(
  handle: Handle,
  work: (handle: Handle) => Result | Promise<Result>,
): Promise<Result> {
  let result: Result;
  try {
    result = await work(handle);
  } finally {
    await handle[Symbol.asyncDispose]();
  }
  if (handle.signal.aborted) {
    throw handle.signal.reason as QuoinError;
  }
  return result;
}

/** The options of a request for a renewed hold. */
export function holdOptions(options: HoldOptions): HoldOptions & { readonly owner: string } {
  return { ...options, owner: options.owner ?? PROCESS_OWNER, waitMs: options.waitMs ?? DEFAULT_WAIT_MS };
}

/** The error of a wait in which the lock was never free. */
export function notAcquired(
  namespace: string,
  name: string,
  holder: { readonly owner: string } | undefined,
): QuoinError {
  const who = holder === undefined ? "its lock delay has not ended" : `${holder.owner} holds it`;
  return new QuoinError({
    code: "FAILED_PRECONDITION",
    reason: "NOT_ACQUIRED",
    outcome: "not-executed",
    message: `lock ${namespace}/${name} was not acquired: ${who}`,
    details: new Map([["lock", name]]),
  });
}
