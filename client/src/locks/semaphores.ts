/**
 * Semaphores: the part of the LockService for permits, typed, and handles that renew a hold.
 *
 * A semaphore has a number of permits, and each hold has some of them. Waiting is first come, first served: a request for
 * many permits is not overtaken by later ones for few. The names are those of exclusive locks too. Every method raises a
 * QuoinError; the comments list only the errors of the method itself. All except create raise NOT_FOUND / LOCK_NOT_FOUND,
 * also for an exclusive lock.
 */

import {
  type AcquireSemaphoreResponse,
  type DeleteSemaphoreResponse,
  type DescribeSemaphoreResponse,
  type ReleaseSemaphoreResponse,
  serviceDefinitions,
  type UpdateSemaphoreResponse,
} from "@quoin/proto";
import {
  type CallOptions,
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
import { callRules, int32Field, optionsCheck, whole, whole32 } from "../options/index.ts";
import { type HoldOptions, holdOptions, LockHandle, notAcquired, withHandle } from "./lock-handle.ts";
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
  type LockState,
  lockRules,
  lockTarget,
  type ReleaseLockOptions,
  type RenewOptions,
  releaseFields,
  type SemaphoreHold,
  semaphoreHold,
  stateName,
} from "./lock-messages.ts";
import { type CreateLockResult, forceRelease } from "./locks.ts";

const service = serviceDefinitions.LockService;
const createMethod = unaryMethod(service.createSemaphore);
const describeMethod = unaryMethod(service.describeSemaphore);
const acquireMethod = unaryMethod(service.acquireSemaphore);
const releaseMethod = unaryMethod(service.releaseSemaphore);
const updateMethod = unaryMethod(service.updateSemaphore);
const deleteMethod = unaryMethod(service.deleteSemaphore);

/** Answer of describe. */
export type DescribeSemaphoreResult = Omit<Plain<DescribeSemaphoreResponse>, "state" | "holders"> & {
  state: LockState;
  /** The live holds, in the order of their grants. */
  holders: SemaphoreHold[];
};

/** Answer of acquire. */
export type AcquireSemaphoreResult = Omit<Plain<AcquireSemaphoreResponse>, "state" | "holders"> & {
  state: LockState;
  /** Live holds in the order of their grants: the first 10, and the caller's. `describe` returns all. */
  holders: SemaphoreHold[];
  /** When the hold ends without renewal, on the runtime's clock; undefined = not acquired. */
  deadlineMs: number | undefined;
};

/** Answer of forceRelease. */
export interface ForceReleaseSemaphoreResult {
  readonly released: boolean;
  /** The hold that ended; of several, the one granted first; undefined = there was none. */
  readonly previous: SemaphoreHold | undefined;
  readonly revision: number;
}

/** Options of the creation of a semaphore. */
export type CreateSemaphoreOptions = Omit<CreateLockOptions, "lockDelaySeconds">;

/** Options of a request for permits. */
export interface AcquireSemaphoreOptions extends AcquireOptions {
  /** Permits of the hold, 1 to those of the semaphore. Default 1. */
  readonly permits?: number | undefined;
}

/** Options of a hold of permits that is renewed. */
export interface HoldSemaphoreOptions extends HoldOptions {
  /** Permits of the hold, 1 to those of the semaphore. Default 1. */
  readonly permits?: number | undefined;
}

const checkCreate = optionsCheck<CreateSemaphoreOptions>({ ...callRules, ttlSeconds: whole });
const checkDescribe = optionsCheck<ReadOptions>(readRules);
const checkAcquire = optionsCheck<AcquireSemaphoreOptions & InSession>({
  ...lockRules.acquire,
  permits: whole32,
  sessionId: whole,
});
const checkRenew = optionsCheck<RenewOptions>(lockRules.renew);
const checkRelease = optionsCheck<ReleaseLockOptions>(lockRules.release);
const checkUpdate = optionsCheck<CallOptions>(callRules);
const checkDelete = optionsCheck<DeleteLockOptions>(lockRules.delete);
const checkHold = optionsCheck<HoldSemaphoreOptions>({ ...lockRules.acquire, permits: whole32 });

/** Acquires permits of semaphores, and renews holds of them. */
export class SemaphoreClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Creates a semaphore with a name of 1 to 256 bytes and 1 to 10,000 permits. All of them are free at first.
   *
   * @throws QuoinError ALREADY_EXISTS / LOCK_EXISTS; NOT_FOUND / NAMESPACE_NOT_FOUND.
   */
  async create(
    namespace: string,
    name: string,
    permits: number,
    options: CreateSemaphoreOptions = {},
  ): Promise<CreateLockResult> {
    checkCreate(options, "semaphores.create");
    const { ttlSeconds } = creationFields(options);
    const request = { ...lockTarget(namespace, name), permits: int32Field("permits", permits), ttlSeconds };
    return toPlain((await execute(this.#context, createMethod, request, options)).message);
  }

  /** Reads the state of a semaphore. */
  async describe(namespace: string, name: string, options: ReadOptions = {}): Promise<DescribeSemaphoreResult> {
    checkDescribe(options, "semaphores.describe");
    const request = { ...lockTarget(namespace, name), consistency: consistencyField(options.consistency) };
    const { message } = await execute(this.#context, describeMethod, request, options);
    return { ...toPlain(message), state: stateName(message.state), holders: message.holders.map(semaphoreHold) };
  }

  /**
   * Requests permits, once or for as long as `waitMs`. If too few are free, or others wait, the answer has `acquired:
   * false`; that is not an error. The hold ends by itself without renewal.
   *
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for more permits than the semaphore has.
   */
  async acquire(
    namespace: string,
    name: string,
    options: AcquireSemaphoreOptions & InSession = {},
  ): Promise<AcquireSemaphoreResult> {
    checkAcquire(options, "semaphores.acquire");
    return acquireResult(await this.#acquire(namespace, name, options));
  }

  /**
   * Renews a hold: it lasts for `ttlSeconds` from now, with the same permits.
   *
   * @throws QuoinError FAILED_PRECONDITION / LOCK_LOST if it has ended, NOT_LOCK_HOLDER if it is not the caller's.
   */
  async renew(
    namespace: string,
    name: string,
    fencingToken: number,
    options: RenewOptions = {},
  ): Promise<AcquireSemaphoreResult> {
    checkRenew(options, "semaphores.renew");
    const request = renewal(namespace, name, options, fencingToken);
    return acquireResult(await execute(this.#context, acquireMethod, request, options));
  }

  /**
   * Releases one hold with all of its permits; the next waiters get them at once.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_LOCK_HOLDER, or AMBIGUOUS_HOLD if several holds match without a token.
   */
  async release(
    namespace: string,
    name: string,
    options: ReleaseLockOptions = {},
  ): Promise<Plain<ReleaseSemaphoreResponse>> {
    checkRelease(options, "semaphores.release");
    const request = { ...lockTarget(namespace, name), ...releaseFields(options) };
    return toPlain((await execute(this.#context, releaseMethod, request, options)).message);
  }

  /**
   * Changes the number of permits, to 1 to 10,000. Holds keep theirs: if they have more than the new number, nothing is
   * granted until enough of them have ended. Requests that wait for more than the new number fail with BAD_FIELD.
   */
  async update(
    namespace: string,
    name: string,
    permits: number,
    options: CallOptions = {},
  ): Promise<Plain<UpdateSemaphoreResponse>> {
    checkUpdate(options, "semaphores.update");
    const request = { ...lockTarget(namespace, name), permits: int32Field("permits", permits) };
    return toPlain((await execute(this.#context, updateMethod, request, options)).message);
  }

  /**
   * Takes the permits from all holders, or from the holder with a token. Needs the access `admin`. Without a holder,
   * `released` is false; that is not an error.
   */
  async forceRelease(
    namespace: string,
    name: string,
    options: ForceReleaseOptions = {},
  ): Promise<ForceReleaseSemaphoreResult> {
    const message = await forceRelease(this.#context, { namespace, name, rw: false }, options);
    const { previous } = message;
    return { ...toPlain(message), previous: previous === undefined ? undefined : semaphoreHold(previous) };
  }

  /**
   * Deletes a semaphore like `locks.delete`.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_EMPTY if it is in use.
   */
  async delete(
    namespace: string,
    name: string,
    options: DeleteLockOptions = {},
  ): Promise<Plain<DeleteSemaphoreResponse>> {
    checkDelete(options, "semaphores.delete");
    const request = { ...lockTarget(namespace, name), force: options.force ?? false };
    return toPlain((await execute(this.#context, deleteMethod, request, options)).message);
  }

  /**
   * Acquires permits and renews the hold: the handle renews it until it is released or lost.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_ACQUIRED if too few were free for all of `waitMs`; INVALID_ARGUMENT /
   * BAD_FIELD for more permits than the semaphore has.
   */
  async hold(namespace: string, name: string, options: HoldSemaphoreOptions = {}): Promise<LockHandle> {
    checkHold(options, "semaphores.hold");
    const { owner, ...asked } = holdOptions(options);
    const execution = await this.#acquire(namespace, name, { ...asked, permits: options.permits, owner });
    const { message } = execution;
    if (!message.acquired) {
      throw notAcquired(namespace, name, message.holders[0]);
    }
    const grant = grantOf(execution);
    return new LockHandle({
      runtime: this.#context.runtime,
      held: { namespace, name, owner },
      grant,
      renew: async (token, { timeoutMs, signal }, persistence) => {
        const request = renewal(namespace, name, { owner, ttlSeconds: grant.ttlSeconds }, token);
        return grantOf(await execute(this.#context, acquireMethod, request, { timeoutMs, signal }, persistence));
      },
      release: async (fencingToken, call) => {
        await this.release(namespace, name, { ...call, owner, fencingToken });
      },
    });
  }

  /**
   * Runs work while holding permits, and releases them.
   *
   * @param work gets the handle, whose signal aborts when the hold is lost.
   * @returns the result of the work.
   * @throws QuoinError like hold; FAILED_PRECONDITION / LOCK_LOST if the hold ended before the work; the error of the
   * work.
   */
  async withPermits<Result>(
    namespace: string,
    name: string,
    work: (handle: LockHandle) => Result | Promise<Result>,
    options: HoldSemaphoreOptions = {},
  ): Promise<Result> {
    return withHandle(await this.hold(namespace, name, options), work);
  }

  #acquire(
    namespace: string,
    name: string,
    options: AcquireSemaphoreOptions & InSession,
  ): Promise<Execution<AcquireSemaphoreResponse>> {
    const permits = int32Field("permits", options.permits ?? 1);
    const request = { ...lockTarget(namespace, name), permits, ...acquisitionFields(options, 0) };
    return executeAcquisition(this.#context, acquireMethod, request, options);
  }
}

function renewal(namespace: string, name: string, options: RenewOptions, fencingToken: number) {
  return { ...lockTarget(namespace, name), permits: 0, ...acquisitionFields(options, fencingToken) };
}

function acquireResult(execution: Execution<AcquireSemaphoreResponse>): AcquireSemaphoreResult {
  const { message } = execution;
  return {
    ...toPlain(message),
    state: stateName(message.state),
    holders: message.holders.map(semaphoreHold),
    deadlineMs: message.acquired ? grantOf(execution).deadlineMs : undefined,
  };
}
