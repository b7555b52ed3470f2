/**
 * A hold of a lock that keeps itself alive.
 *
 * It is renewed when a third of its life has passed, and for want of an answer again and again, at other members too, until
 * its deadline: that no leader can be found ends no hold before its time (rule S30). The deadline errs early (rule S23), so
 * that whoever looks at the handle knows of the loss before anybody else gets the lock. A process that stands still learns
 * of it late all the same: what must not happen then is to be guarded, by `guard` or by comparing `token`.
 *
 * No timer of a handle keeps the process alive.
 */

import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import type { Guard } from "./guard.ts";
import type { AcquireOptions, Grant } from "./lock-messages.ts";
import type { CallOptions, Persistence } from "./operation.ts";
import { QuoinError } from "./quoin-error.ts";
import type { Runtime } from "./runtime.ts";

/** Options of a hold that is kept. */
export interface HoldOptions extends AcquireOptions {
  /** Label of the holder, at most 256 bytes. Default: random, the same for all holds of this process. */
  readonly owner?: string | undefined;
  /** How long to wait while others hold the lock, in milliseconds; 0 = try once. Default 30,000. */
  readonly waitMs?: number | undefined;
  /** Ends the wait for the lock; the hold itself ends with `release`. */
  readonly signal?: AbortSignal | undefined;
}

/** What a handle is made of. */
export interface HandleParts {
  readonly runtime: Runtime;
  readonly held: { readonly namespace: string; readonly name: string; readonly owner: string };
  readonly grant: Grant;
  /** Renews the hold with this token. */
  readonly renew: (fencingToken: number, call: CallOptions, persistence: Persistence) => Promise<Grant>;
  /** Gives the hold with this token back. */
  readonly release: (fencingToken: number, call: CallOptions) => Promise<void>;
}

/** Labels the holds of this process, so that whoever describes a lock can tell its holders apart. */
const processOwner = randomUUID();

/** As long as a hold lasts by default: if its holder died, it is over by then. */
const defaultWaitMs = 30_000;

/** Part of its life after which a hold is renewed: two thirds are left for tries. */
const renewAt = 1 / 3;

/** Part of the remaining life that one member may take to answer a renewal: others must have their turn too. */
const attemptShare = 1 / 4;

/** The least that a member may take for it, in milliseconds: less would give up members that are only a little slow. */
const attemptTimeoutMinMs = 250;

/** Pause before a renewal that was refused is tried again, in milliseconds: the deadline comes nearer, and the tries with it. */
const renewalPauseMinMs = 100;

/** Reasons that say for certain that the hold is over. */
const lossReasons: ReadonlySet<string> = new Set([
  "LOCK_LOST",
  "NOT_LOCK_HOLDER",
  "LOCK_NOT_FOUND",
  "NAMESPACE_NOT_FOUND",
]);

/** A hold of an exclusive lock. It emits `lost`, once, when the hold ended without having been released. */
export class LockHandle extends EventEmitter<{ lost: [error: QuoinError] }> implements AsyncDisposable {
  readonly namespace: string;
  readonly name: string;
  /** Label under which the lock is held. */
  readonly owner: string;
  readonly #parts: HandleParts;
  readonly #loss = new AbortController();
  readonly #end = new AbortController();
  readonly #releaseId = randomUUID();
  #grant: Grant;
  #isOver = false;
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
    this.#watchDeadline();
    this.#planRenewal();
  }

  /** Fencing token: greater than those of all earlier holds of any lock. */
  get token(): number {
    return this.#grant.fencingToken;
  }

  /** When the hold ends unless it is renewed, on the runtime's clock, which is `performance.now()`. */
  get deadlineMs(): number {
    return this.#grant.deadlineMs;
  }

  /** How long the hold still lasts unless it is renewed, in milliseconds; 0 = it is over. */
  get remainingMs(): number {
    return this.#isOver ? 0 : Math.max(0, this.#grant.deadlineMs - this.#parts.runtime.monotonicMs());
  }

  /** Whether the lock is certainly held at this moment. */
  get isHeld(): boolean {
    return this.remainingMs > 0;
  }

  /** Aborts when the hold is lost, with the error as its reason. Releasing does not abort it. */
  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  /** Makes a write count only while this hold is live: `client.keyValue.put(…, { guard: handle.guard })`. */
  get guard(): Guard {
    return { lockName: this.name, fencingToken: this.token };
  }

  /**
   * Gives the lock back; who waits gets it at once. Calling it again does nothing more.
   *
   * @returns whether the lock was held until then.
   * @throws QuoinError when no member answers; the hold is not renewed any more, and release may be called again.
   */
  release(options: Omit<CallOptions, "requestId"> = {}): Promise<boolean> {
    this.#released ??= this.#giveBack(options);
    return this.#released;
  }

  /** Gives the lock back at the end of an `await using`. If no member answers, the hold ends at its deadline. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.release();
    } catch (error) {
      // What was done under the lock is done: that others wait a little longer must not make it a failure.
      if (!(error instanceof QuoinError)) throw error;
    }
  }

  /**
   * Changes the hold when no renewal is under way; the next renewal follows from what it is then.
   *
   * @param change gets the time that is left; what it returns is the hold from now on.
   * @throws QuoinError of the change; FAILED_PRECONDITION / LOCK_LOST when the hold is over.
   */
  protected async change(change: (call: CallOptions, persistence: Persistence) => Promise<Grant>): Promise<void> {
    const changed = this.#lastChange.then(() => this.#changeNow(change));
    this.#lastChange = changed.catch(() => undefined);
    await changed;
  }

  async #changeNow(change: (call: CallOptions, persistence: Persistence) => Promise<Grant>): Promise<void> {
    if (this.#isOver) throw this.#lossError(this.#lastFailure);
    this.#cancelRenewal();
    const timeoutMs = Math.max(1, this.remainingMs);
    const attemptTimeoutMs = Math.max(attemptTimeoutMinMs, timeoutMs * attemptShare);
    try {
      this.#grant = await change({ timeoutMs }, { maxAttempts: Number.POSITIVE_INFINITY, attemptTimeoutMs });
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      this.#lastFailure = error;
      if (!this.#isOver && lossReasons.has(error.reason)) this.#lose(error);
      // Whoever may not do this will not be allowed to by asking again. The hold lasts until its deadline.
      if (error.code !== "PERMISSION_DENIED") this.#planRenewal();
      throw error;
    }
    if (this.#isOver) return;
    this.#lastFailure = undefined;
    this.#watchDeadline();
    this.#planRenewal();
  }

  #planRenewal(): void {
    if (this.#isOver) return;
    const delayMs = Math.max(renewalPauseMinMs, this.remainingMs * renewAt);
    this.#cancelRenewal = this.#parts.runtime.after(delayMs, () => {
      const renewed = this.change(({ timeoutMs }, persistence) =>
        this.#parts.renew(this.token, { timeoutMs, signal: this.#end.signal }, persistence),
      );
      // It is tried again until the deadline, and the loss then tells the last failure.
      renewed.catch(() => undefined);
    });
  }

  #watchDeadline(): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#parts.runtime.after(this.remainingMs, () => this.#lose(this.#lastFailure));
  }

  #lose(cause: QuoinError | undefined): void {
    if (this.#isOver) return;
    this.#stop();
    this.#tellLoss(cause);
  }

  #tellLoss(cause: QuoinError | undefined): void {
    const error = this.#lossError(cause);
    this.#loss.abort(error);
    // On its own, so that what a listener throws is its own as well.
    queueMicrotask(() => this.emit("lost", error));
  }

  #stop(): void {
    this.#isOver = true;
    this.#cancelRenewal();
    this.#cancelDeadline();
    this.#end.abort();
  }

  async #giveBack(options: Omit<CallOptions, "requestId">): Promise<boolean> {
    if (this.signal.aborted) return false;
    this.#stop();
    // A change that is under way may give the hold another token.
    await this.#lastChange;
    try {
      await this.#parts.release(this.token, { ...options, requestId: this.#releaseId });
      return true;
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      this.#released = undefined;
      if (!lossReasons.has(error.reason)) throw error;
      this.#tellLoss(error);
      return false;
    }
  }

  #lossError(cause: QuoinError | undefined): QuoinError {
    const why = cause === undefined ? "it was not renewed in time" : cause.message;
    return new QuoinError({
      code: "FAILED_PRECONDITION",
      reason: "LOCK_LOST",
      outcome: "not-executed",
      message: `the hold of lock ${this.name} with token ${this.token} is over: ${why}`,
      details: new Map([
        ["lock", this.name],
        ["fencing_token", String(this.token)],
      ]),
      cause,
    });
  }
}

/**
 * Does work under a hold, and gives the hold back whatever comes of it.
 *
 * @throws what the work throws; FAILED_PRECONDITION / LOCK_LOST when the hold was over before the work was.
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
  if (handle.signal.aborted) throw handle.signal.reason as QuoinError;
  return result;
}

/** The options of a request for a hold that is kept. */
export function holdOptions(options: HoldOptions): HoldOptions & { readonly owner: string } {
  return { ...options, owner: options.owner ?? processOwner, waitMs: options.waitMs ?? defaultWaitMs };
}

/** The error of a wait in which the lock was never free. */
export function notAcquired(name: string, holder: { readonly owner: string } | undefined): QuoinError {
  const who = holder === undefined ? "nobody may hold it yet" : `${holder.owner} holds it`;
  return new QuoinError({
    code: "FAILED_PRECONDITION",
    reason: "NOT_ACQUIRED",
    outcome: "not-executed",
    message: `lock ${name} was not acquired: ${who}`,
    details: new Map([["lock", name]]),
  });
}
