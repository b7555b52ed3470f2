/**
 * A lock of any kind in an AppliedLog. Specs acquire, hold and release it as clients and the leader do, and get the
 * outcome of each step in a word. Attempts have numbers. Two more users have the owner's permissions.
 */

import { invariant } from "../src/primitives/index.ts";
import type { ProposalOrigin } from "../src/raft/index.ts";
import {
  type AcquireLock,
  type AcquireLockResult,
  type CancelAcquisition,
  CoordinationError,
  type CreateLock,
  type CreateSemaphore,
  checkGuard,
  DEFAULT_STATE_LIMITS,
  describeLock,
  dueLockTimers,
  type LockMode,
  type LockView,
  type Outcome,
  type Principal,
  type ReleaseLock,
  readUser,
  Transaction,
  writeUser,
} from "../src/state/index.ts";
import { AppliedLog, type ExecuteOptions, OWNER, requestOf } from "./applied-log.ts";

export const NAMED = { namespace: "default", name: "l" };
/** Other users, with the owner's permissions. */
export const ANNA: Principal = { subject: "user-anna", apiKeyId: "" };
export const BEN: Principal = { subject: "user-ben", apiKeyId: "" };

export function createLock(changes: Partial<CreateLock> = {}): CreateLock {
  return { kind: "create-lock", ...NAMED, rw: false, ttlSeconds: 30, lockDelaySeconds: 0, ...changes };
}

export function createSemaphore(changes: Partial<CreateSemaphore> = {}): CreateSemaphore {
  return { kind: "create-semaphore", ...NAMED, permits: 3, ttlSeconds: 30, ...changes };
}

export function acquireLock(changes: Partial<AcquireLock> = {}): AcquireLock {
  const rest = { ttlSeconds: 0, owner: "", waitMs: 0, fencingToken: 0 };
  return { kind: "acquire-lock", ...NAMED, mode: "exclusive", ...rest, ...changes };
}

export function releaseLock(changes: Partial<ReleaseLock> = {}): ReleaseLock {
  return { kind: "release-lock", ...NAMED, rw: false, mode: null, owner: "", fencingToken: 0, ...changes };
}

/** Gives a user the record of the owner. */
export function addUser(log: AppliedLog, { subject }: Principal, changes: object = {}): void {
  const owner = readUser(log.store, OWNER.subject);
  if (owner === undefined) {
    throw new Error("there is no owner");
  }
  const transaction = new Transaction(log.store, (previous) => previous, 0);
  writeUser(transaction, { ...owner, userId: subject, email: `${subject}@quoin.local`, ...changes });
  log.store.write(transaction.take());
}

/** An attempt of a member to acquire a lock, with a request id and a number. */
interface Attempt extends ExecuteOptions {
  readonly seq: number;
}

/** The outcome of an acquisition, in words. */
export function answerText(outcome: Outcome | undefined): string {
  const answer = outcome?.answer;
  if (answer instanceof CoordinationError) {
    return answer.reason;
  }
  if (answer?.kind === "acquire-lock") {
    return answer.hold === null ? `not acquired, ${answer.state}` : `token ${answer.hold.token}`;
  }
  return answer?.kind ?? "nothing";
}

export class AppliedLock {
  readonly log: AppliedLog;
  /** The rw lock and the exclusive lock have the same name. */
  readonly rw: boolean;
  /** Mode of a hold that does not request its own. */
  readonly #mode: LockMode;
  #seq = 0;

  /** @param lock a semaphore if it has permits. */
  constructor(lock: Partial<CreateLock> & { readonly permits?: number } = {}, limits = DEFAULT_STATE_LIMITS) {
    this.log = new AppliedLog(limits);
    this.rw = lock.rw ?? false;
    addUser(this.log, ANNA);
    addUser(this.log, BEN);
    const { permits, ...rest } = lock;
    this.#mode = permits !== undefined ? "permits" : this.rw ? "write" : "exclusive";
    this.log.result(permits === undefined ? createLock(rest) : createSemaphore({ permits }));
  }

  /** Requests the lock, by an attempt of its own. */
  ask(changes: Partial<AcquireLock> = {}, attempt: Partial<Attempt> = {}): string {
    this.#seq++;
    this.log.origin = this.originOf(attempt.seq ?? this.#seq);
    return answerText(this.log.execute(acquireLock({ mode: this.#mode, ...changes }), attempt));
  }

  get seq(): number {
    return this.#seq;
  }

  originOf(seq: number): ProposalOrigin {
    return { memberId: 1, boot: 1, seq };
  }

  result(changes: Partial<AcquireLock> = {}, asking: ExecuteOptions = {}): AcquireLockResult {
    return this.log.result<"acquire-lock">(acquireLock({ mode: this.#mode, ...changes }), asking);
  }

  releaseHold(changes: Partial<ReleaseLock> = {}, asking: ExecuteOptions = {}): string {
    return answerText(this.log.execute(releaseLock({ rw: this.rw, ...changes }), asking));
  }

  force(fencingToken = 0): boolean {
    const command = { kind: "force-release-lock", ...NAMED, rw: this.rw, fencingToken, reason: "spec" } as const;
    return this.log.result<"force-release-lock">(command).previous !== null;
  }

  cancel(id: number, seq: number, { subject }: Principal = OWNER): void {
    const { requestId } = requestOf(id);
    const command: CancelAcquisition = { kind: "cancel-acquisition", subject, requestId, attempt: this.originOf(seq) };
    this.log.lead(command);
  }

  /** Lets time pass, and does what a leader does with expired things. */
  pass(milliseconds: number): void {
    this.log.tickMs += milliseconds;
    for (;;) {
      const timers = dueLockTimers(this.log.store, this.log.tickMs, 3);
      if (timers.length === 0) {
        return;
      }
      this.log.lead({ kind: "expire-locks", timers });
    }
  }

  /** The waits that ended since the last call: number of the attempt, and its outcome. */
  settled(): string[] {
    return this.log.settled.splice(0).map(({ attempt, outcome }) => `${attempt.seq}: ${answerText(outcome)}`);
  }

  get view(): LockView {
    return describeLock(this.log.store, { ...NAMED, rw: this.rw });
  }

  get tokens(): number[] {
    return this.view.holds.map(({ token }) => token);
  }

  isGuarding(fencingToken: number): boolean {
    try {
      checkGuard(this.log.store, NAMED.namespace, { lockName: NAMED.name, fencingToken, rw: this.rw });
      return true;
    } catch (error) {
      invariant(error instanceof CoordinationError && error.reason === "FENCED", "guards refuse with FENCED");
      return false;
    }
  }
}
