/**
 * Read-write locks: the second half of the LockService, typed, and handles that renew a hold.
 *
 * A lock has any number of readers, or one writer; no reader overtakes a waiting writer. Their names are separate from
 * those of exclusive locks. Every method raises a QuoinError; the comments list only the errors of the method itself.
 * All except create raise NOT_FOUND / LOCK_NOT_FOUND.
 */

import {
  type AcquireRWLockResponse,
  type DeleteRWLockResponse,
  type DescribeRWLockResponse,
  type LockHold as LockHoldMessage,
  type ReleaseRWLockResponse,
  serviceDefinitions,
} from "@quoin/proto";
import {
  consistencyField,
  type Execution,
  execute,
  type OperationContext,
  type Plain,
  type ReadOptions,
  readRules,
  toPlain,
  unaryMethod,
} from "../calls/index.ts";
import { optionsCheck, whole } from "../options/index.ts";
import { type HoldOptions, holdOptions, notAcquired, withHandle } from "./lock-handle.ts";
import {
  type AcquireOptions,
  acquisitionFields,
  type CreateLockOptions,
  creationFields,
  type DeleteLockOptions,
  executeAcquisition,
  type ForceReleaseOptions,
  grantOf,
  type InSession,
  type LockMode,
  type LockState,
  lockRules,
  lockTarget,
  modeField,
  modeName,
  modeRule,
  type ReadWriteLockHold,
  type ReleaseLockOptions,
  type RenewOptions,
  readWriteHold,
  releaseFields,
  stateName,
} from "./lock-messages.ts";
import { type CreateLockResult, forceRelease } from "./locks.ts";
import { ReadWriteLockHandle } from "./read-write-lock-handle.ts";

const service = serviceDefinitions.LockService;
const createMethod = unaryMethod(service.createRWLock);
const describeMethod = unaryMethod(service.describeRWLock);
const acquireMethod = unaryMethod(service.acquireRWLock);
const releaseMethod = unaryMethod(service.releaseRWLock);
const deleteMethod = unaryMethod(service.deleteRWLock);

/** Answer of describe. */
export type DescribeReadWriteLockResult = Omit<Plain<DescribeRWLockResponse>, "state" | "holders"> & {
  state: LockState;
  /** None, one writer, or the readers. */
  holders: ReadWriteLockHold[];
};

/** Answer of acquire. */
export type AcquireReadWriteLockResult = Omit<Plain<AcquireRWLockResponse>, "state" | "holders" | "mode"> & {
  state: LockState;
  /** Mode of the caller's hold; undefined = not acquired. */
  mode: LockMode | undefined;
  /** Live holds in the order of their grants: the first 10, and the caller's. `describe` returns all. */
  holders: ReadWriteLockHold[];
  /** When the hold ends without renewal, on the runtime's clock; undefined = not acquired. */
  deadlineMs: number | undefined;
};

/** Answer of forceRelease. */
export interface ForceReleaseReadWriteResult {
  readonly released: boolean;
  /** The hold that ended; of several readers, the one granted first; undefined = there was none. */
  readonly previous: ReadWriteLockHold | undefined;
  readonly revision: number;
}

/** Options of a release. */
export interface ReleaseReadWriteLockOptions extends ReleaseLockOptions {
  /** Mode of the hold. Default: either. */
  readonly mode?: LockMode | undefined;
}

const checkCreate = optionsCheck<CreateLockOptions>(lockRules.create);
const checkDescribe = optionsCheck<ReadOptions>(readRules);
const checkAcquire = optionsCheck<AcquireOptions & InSession>({ ...lockRules.acquire, sessionId: whole });
const checkRenew = optionsCheck<RenewOptions>(lockRules.renew);
const checkRelease = optionsCheck<ReleaseReadWriteLockOptions>({
  ...lockRules.release,
  mode: modeRule,
});
const checkDelete = optionsCheck<DeleteLockOptions>(lockRules.delete);
const checkHold = optionsCheck<HoldOptions>(lockRules.acquire);

/** Acquires read-write locks, and renews them. */
export class ReadWriteLockClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Creates a lock with a name of 1 to 256 bytes. It starts free.
   *
   * @throws QuoinError ALREADY_EXISTS / LOCK_EXISTS; NOT_FOUND / NAMESPACE_NOT_FOUND.
   */
  async create(namespace: string, name: string, options: CreateLockOptions = {}): Promise<CreateLockResult> {
    checkCreate(options, "readWriteLocks.create");
    const request = { ...lockTarget(namespace, name), ...creationFields(options) };
    return toPlain((await execute(this.#context, createMethod, request, options)).message);
  }

  /** Reads the state of a lock. */
  async describe(namespace: string, name: string, options: ReadOptions = {}): Promise<DescribeReadWriteLockResult> {
    checkDescribe(options, "readWriteLocks.describe");
    const request = { ...lockTarget(namespace, name), consistency: consistencyField(options.consistency) };
    const { message } = await execute(this.#context, describeMethod, request, options);
    return { ...toPlain(message), state: stateName(message.state), holders: message.holders.map(readWriteHold) };
  }

  /**
   * Requests a lock in a mode, once or for as long as `waitMs`. If others are in the way, the answer has `acquired:
   * false`; that is not an error. The hold ends by itself without renewal.
   */
  async acquire(
    namespace: string,
    name: string,
    mode: LockMode,
    options: AcquireOptions & InSession = {},
  ): Promise<AcquireReadWriteLockResult> {
    modeRule(mode, "mode");
    checkAcquire(options, "readWriteLocks.acquire");
    return acquireResult(await this.#acquire(namespace, name, mode, options));
  }

  /**
   * Requests a mode with the token of a hold: the same mode renews it; READ on a writer downgrades it and keeps the
   * token; WRITE on a reader upgrades it, under a new token.
   *
   * @throws QuoinError FAILED_PRECONDITION / LOCK_LOST if it has ended, NOT_LOCK_HOLDER if it is not the caller's,
   * UPGRADE_WOULD_DEADLOCK if the reader is not alone or there is a waiter.
   */
  async renew(
    namespace: string,
    name: string,
    mode: LockMode,
    fencingToken: number,
    options: RenewOptions = {},
  ): Promise<AcquireReadWriteLockResult> {
    modeRule(mode, "mode");
    checkRenew(options, "readWriteLocks.renew");
    const request = acquireRequest(namespace, name, mode, options, fencingToken);
    return acquireResult(await execute(this.#context, acquireMethod, request, options));
  }

  /**
   * Releases one hold.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_LOCK_HOLDER, or AMBIGUOUS_HOLD if several holds match without a token.
   */
  async release(
    namespace: string,
    name: string,
    options: ReleaseReadWriteLockOptions = {},
  ): Promise<Plain<ReleaseRWLockResponse>> {
    checkRelease(options, "readWriteLocks.release");
    const request = {
      ...lockTarget(namespace, name),
      mode: modeField(options.mode),
      ...releaseFields(options),
    };
    return toPlain((await execute(this.#context, releaseMethod, request, options)).message);
  }

  /**
   * Takes a lock from all its holders, or from the holder with a token. Needs the access `admin`. Without a holder,
   * `released` is false; that is not an error.
   */
  async forceRelease(
    namespace: string,
    name: string,
    options: ForceReleaseOptions = {},
  ): Promise<ForceReleaseReadWriteResult> {
    const message = await forceRelease(this.#context, { namespace, name, rw: true }, options);
    const { previous } = message;
    return { ...toPlain(message), previous: previous === undefined ? undefined : readWriteHold(previous) };
  }

  /**
   * Deletes a lock like `locks.delete`.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_EMPTY if it is in use.
   */
  async delete(namespace: string, name: string, options: DeleteLockOptions = {}): Promise<Plain<DeleteRWLockResponse>> {
    checkDelete(options, "readWriteLocks.delete");
    const request = { ...lockTarget(namespace, name), force: options.force ?? false };
    return toPlain((await execute(this.#context, deleteMethod, request, options)).message);
  }

  /**
   * Acquires a lock in a mode and renews it: the handle renews the hold until it is released or lost.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_ACQUIRED if others were in the way for all of `waitMs`.
   */
  async hold(namespace: string, name: string, mode: LockMode, options: HoldOptions = {}): Promise<ReadWriteLockHandle> {
    modeRule(mode, "mode");
    checkHold(options, "readWriteLocks.hold");
    const asked = holdOptions(options);
    const execution = await this.#acquire(namespace, name, mode, asked);
    const { message } = execution;
    if (!message.acquired) {
      throw notAcquired(namespace, name, message.holders[0]);
    }
    const grant = grantOf(execution);
    return new ReadWriteLockHandle({
      runtime: this.#context.runtime,
      held: { namespace, name, owner: asked.owner },
      grant,
      mode,
      ask: async (wanted, token, { timeoutMs, signal }, persistence) => {
        const renewal = { owner: asked.owner, ttlSeconds: grant.ttlSeconds };
        const request = acquireRequest(namespace, name, wanted, renewal, token);
        return grantOf(await execute(this.#context, acquireMethod, request, { timeoutMs, signal }, persistence));
      },
      release: async (fencingToken, call) => {
        await this.release(namespace, name, { ...call, owner: asked.owner, fencingToken });
      },
    });
  }

  /**
   * Runs work while holding a lock in a mode, and releases it.
   *
   * @param work gets the handle, whose signal aborts when the hold is lost.
   * @returns the result of the work.
   * @throws QuoinError like hold; FAILED_PRECONDITION / LOCK_LOST if the hold ended before the work; the error of the
   * work.
   */
  async withLock<Result>(
    namespace: string,
    name: string,
    mode: LockMode,
    work: (handle: ReadWriteLockHandle) => Result | Promise<Result>,
    options: HoldOptions = {},
  ): Promise<Result> {
    return withHandle(await this.hold(namespace, name, mode, options), work);
  }

  #acquire(
    namespace: string,
    name: string,
    mode: LockMode,
    options: AcquireOptions & InSession,
  ): Promise<Execution<AcquireRWLockResponse>> {
    const request = acquireRequest(namespace, name, mode, options, 0);
    return executeAcquisition(this.#context, acquireMethod, request, options);
  }
}

function acquireRequest(
  namespace: string,
  name: string,
  mode: LockMode,
  options: AcquireOptions & InSession,
  fencingToken: number,
) {
  return { ...lockTarget(namespace, name), mode: modeField(mode), ...acquisitionFields(options, fencingToken) };
}

function acquireResult(execution: Execution<AcquireRWLockResponse>): AcquireReadWriteLockResult {
  const { message } = execution;
  const { acquired, mode, holders } = message;
  return {
    ...toPlain(message),
    state: stateName(message.state),
    mode: acquired ? modeName(mode) : undefined,
    holders: holders.map((hold: LockHoldMessage) => readWriteHold(hold)),
    deadlineMs: acquired ? grantOf(execution).deadlineMs : undefined,
  };
}
