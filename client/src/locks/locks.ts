/**
 * Exclusive locks: the first half of the LockService, typed, and handles that renew a hold.
 *
 * Applications need `hold` and `withLock`; the other methods are single operations. A lock exists from its creation to
 * its deletion. Every method raises a QuoinError; the comments list only the errors of the method itself. All except
 * create raise NOT_FOUND / LOCK_NOT_FOUND.
 */

import {
  type AcquireLockResponse,
  type CreateLockResponse,
  type DeleteLockResponse,
  type DescribeLockResponse,
  type ForceReleaseLockResponse,
  type ReleaseLockResponse,
  type SetLockValueResponse,
  serviceDefinitions,
} from "@quoin/proto";
import {
  type CallOptions,
  consistencyField,
  type Execution,
  execute,
  type OperationContext,
  type Persistence,
  type Plain,
  type ReadOptions,
  readRules,
  toPlain,
  unaryMethod,
} from "../calls/index.ts";
import { bytes, bytesField, callRules, int64Field, optionsCheck, text, textField, whole } from "../options/index.ts";
import { type HoldOptions, holdOptions, LockHandle, notAcquired, withHandle } from "./lock-handle.ts";
import {
  fetchLockNames,
  fetchLocks,
  fetchLockWaits,
  type ListLockNamesOptions,
  type ListLocksOptions,
  type ListLockWaitsOptions,
  type LockNamePage,
  type LockPage,
  type LockWait,
} from "./lock-listing.ts";
import {
  type AcquireLockOptions,
  acquisitionFields,
  type CreateLockOptions,
  creationFields,
  type DeleteLockOptions,
  exclusiveHold,
  executeAcquisition,
  type ForceReleaseOptions,
  grantOf,
  type InSession,
  type LockHold,
  type LockState,
  lockRules,
  lockTarget,
  type ReleaseLockOptions,
  type RenewOptions,
  releaseFields,
  stateName,
} from "./lock-messages.ts";

const NO_VALUE = new Uint8Array(0);
const service = serviceDefinitions.LockService;
const createLockMethod = unaryMethod(service.createLock);
const describeLockMethod = unaryMethod(service.describeLock);
const acquireLockMethod = unaryMethod(service.acquireLock);
const releaseLockMethod = unaryMethod(service.releaseLock);
const forceReleaseLockMethod = unaryMethod(service.forceReleaseLock);
const setLockValueMethod = unaryMethod(service.setLockValue);
const deleteLockMethod = unaryMethod(service.deleteLock);

/** Answer of create. */
export type CreateLockResult = Plain<CreateLockResponse>;

/** Answer of describe. */
export type DescribeLockResult = Omit<Plain<DescribeLockResponse>, "state" | "holder"> & {
  state: LockState;
  /** Undefined = no holder. */
  holder: LockHold | undefined;
};

/** Answer of acquire. */
export type AcquireLockResult = Omit<Plain<AcquireLockResponse>, "state" | "holder"> & {
  state: LockState;
  /** The caller's hold if it was acquired, else the one in the way; undefined = no holder (the state is COOLDOWN). */
  holder: LockHold | undefined;
  /** When the hold ends without renewal, on the runtime's clock; undefined = not acquired. */
  deadlineMs: number | undefined;
};

/** Answer of forceRelease. */
export type ForceReleaseResult = Omit<Plain<ForceReleaseLockResponse>, "previous"> & {
  /** The hold that ended; undefined = there was none. */
  previous: LockHold | undefined;
};

/** Options of a change of a value. */
export interface SetLockValueOptions extends CallOptions {
  /** Label of the holder, as given to acquire. Default: any of the caller's subject. */
  readonly owner?: string | undefined;
}

/** Options of a hold of an exclusive lock that is renewed. */
export interface HoldLockOptions extends HoldOptions {
  /** What the hold shows to others, at most 1,024 bytes; a text in UTF-8. Default: nothing. */
  readonly value?: string | Uint8Array | undefined;
}

const checkCreate = optionsCheck<CreateLockOptions>(lockRules.create);
const checkDescribe = optionsCheck<ReadOptions>(readRules);
const checkAcquire = optionsCheck<AcquireLockOptions & InSession>({
  ...lockRules.acquire,
  value: bytes,
  sessionId: whole,
});
const checkRenew = optionsCheck<RenewOptions>(lockRules.renew);
const checkRelease = optionsCheck<ReleaseLockOptions>(lockRules.release);
const checkForceRelease = optionsCheck<ForceReleaseOptions>(lockRules.forceRelease);
const checkDelete = optionsCheck<DeleteLockOptions>(lockRules.delete);
const checkSetValue = optionsCheck<SetLockValueOptions>({ ...callRules, owner: text });
const checkHold = optionsCheck<HoldLockOptions>({ ...lockRules.acquire, value: bytes });

/** Acquires exclusive locks, and renews them. */
export class LockClient {
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
    checkCreate(options, "locks.create");
    const request = { ...lockTarget(namespace, name), ...creationFields(options) };
    return toPlain((await execute(this.#context, createLockMethod, request, options)).message);
  }

  /** Reads the state of a lock. */
  async describe(namespace: string, name: string, options: ReadOptions = {}): Promise<DescribeLockResult> {
    checkDescribe(options, "locks.describe");
    const request = { ...lockTarget(namespace, name), consistency: consistencyField(options.consistency) };
    const { message } = await execute(this.#context, describeLockMethod, request, options);
    return { ...toPlain(message), state: stateName(message.state), holder: holderOf(message) };
  }

  /**
   * Reads one page of the names of locks of all kinds.
   *
   * @throws QuoinError NOT_FOUND / NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a token of another listing.
   */
  async listNames(namespace: string, options: ListLockNamesOptions = {}): Promise<LockNamePage> {
    return fetchLockNames(this.#context, namespace, options);
  }

  /**
   * Reads one page of locks of all kinds, with their holders, and with their first waits if `waitsMax` is not 0.
   *
   * @throws QuoinError NOT_FOUND / NAMESPACE_NOT_FOUND; INVALID_ARGUMENT / BAD_FIELD for a token of another listing.
   */
  async list(namespace: string, options: ListLocksOptions = {}): Promise<LockPage> {
    return fetchLocks(this.#context, namespace, options);
  }

  /** Reads the queue of a lock: the waiting requests, in the order in which they are served; at most 1,000. */
  async listWaits(namespace: string, name: string, options: ListLockWaitsOptions = {}): Promise<readonly LockWait[]> {
    return fetchLockWaits(this.#context, namespace, name, options);
  }

  /**
   * Requests a lock, once or for as long as `waitMs`. If others hold it, the answer has `acquired: false`; that is not
   * an error. The hold ends by itself without renewal.
   */
  async acquire(
    namespace: string,
    name: string,
    options: AcquireLockOptions & InSession = {},
  ): Promise<AcquireLockResult> {
    checkAcquire(options, "locks.acquire");
    return acquireResult(await this.#acquire(namespace, name, options));
  }

  /**
   * Renews a hold: it lasts for `ttlSeconds` from now.
   *
   * @throws QuoinError FAILED_PRECONDITION / LOCK_LOST if it has ended, NOT_LOCK_HOLDER if it is not the caller's.
   */
  async renew(
    namespace: string,
    name: string,
    fencingToken: number,
    options: RenewOptions = {},
  ): Promise<AcquireLockResult> {
    checkRenew(options, "locks.renew");
    const request = { ...lockTarget(namespace, name), ...acquisitionFields(options, fencingToken), value: NO_VALUE };
    return acquireResult(await execute(this.#context, acquireLockMethod, request, options));
  }

  /**
   * Releases a lock; the next waiter gets it at once.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_LOCK_HOLDER if the caller does not hold it.
   */
  async release(
    namespace: string,
    name: string,
    options: ReleaseLockOptions = {},
  ): Promise<Plain<ReleaseLockResponse>> {
    checkRelease(options, "locks.release");
    const request = { ...lockTarget(namespace, name), ...releaseFields(options) };
    return toPlain((await execute(this.#context, releaseLockMethod, request, options)).message);
  }

  /**
   * Replaces the value of a hold, which `describe` and watches of locks show; at most 1,024 bytes, empty = none. It does
   * not renew the hold.
   *
   * @throws QuoinError FAILED_PRECONDITION / LOCK_LOST if it has ended, NOT_LOCK_HOLDER if it is not the caller's.
   */
  async setValue(
    namespace: string,
    name: string,
    fencingToken: number,
    value: string | Uint8Array,
    options: SetLockValueOptions = {},
  ): Promise<Plain<SetLockValueResponse>> {
    checkSetValue(options, "locks.setValue");
    const request = {
      ...lockTarget(namespace, name),
      fencingToken: int64Field("fencingToken", fencingToken),
      owner: textField("owner", options.owner ?? ""),
      value: bytesField("value", value),
    };
    return toPlain((await execute(this.#context, setLockValueMethod, request, options)).message);
  }

  /**
   * Takes a lock from its holder. Needs the access `admin`. Without a holder, `released` is false; that is not an
   * error.
   */
  async forceRelease(namespace: string, name: string, options: ForceReleaseOptions = {}): Promise<ForceReleaseResult> {
    const message = await forceRelease(this.#context, { namespace, name, rw: false }, options);
    const { previous } = message;
    return { ...toPlain(message), previous: previous === undefined ? undefined : exclusiveHold(previous) };
  }

  /**
   * Deletes a lock that is free, has no waits and no running delay; with `force` any lock, which needs the access
   * `admin`. Forced holds end, and requests that wait are refused with LOCK_NOT_FOUND.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_EMPTY if it is in use.
   */
  async delete(namespace: string, name: string, options: DeleteLockOptions = {}): Promise<Plain<DeleteLockResponse>> {
    checkDelete(options, "locks.delete");
    const request = { ...lockTarget(namespace, name), force: options.force ?? false };
    return toPlain((await execute(this.#context, deleteLockMethod, request, options)).message);
  }

  /**
   * Acquires a lock and renews it: the handle renews the hold until it is released or lost.
   *
   * @throws QuoinError FAILED_PRECONDITION / NOT_ACQUIRED if others held it for all of `waitMs`.
   */
  async hold(namespace: string, name: string, options: HoldLockOptions = {}): Promise<LockHandle> {
    checkHold(options, "locks.hold");
    const asked = holdOptions(options);
    const execution = await this.#acquire(namespace, name, { ...asked, value: options.value });
    if (!execution.message.acquired) {
      throw notAcquired(namespace, name, execution.message.holder);
    }
    const grant = grantOf(execution);
    return new LockHandle({
      runtime: this.#context.runtime,
      held: { namespace, name, owner: asked.owner },
      grant,
      renew: async (token, { timeoutMs, signal }, persistence) => {
        const renewal = { owner: asked.owner, ttlSeconds: grant.ttlSeconds, timeoutMs, signal };
        return grantOf(await this.#renew({ namespace, name }, token, renewal, persistence));
      },
      release: async (fencingToken, call) => {
        await this.release(namespace, name, { ...call, owner: asked.owner, fencingToken });
      },
    });
  }

  /**
   * Runs work while holding a lock, and releases it.
   *
   * @param work gets the handle, whose signal aborts when the hold is lost.
   * @returns the result of the work.
   * @throws QuoinError like hold; FAILED_PRECONDITION / LOCK_LOST if the hold ended before the work; the error of the
   * work.
   */
  async withLock<Result>(
    namespace: string,
    name: string,
    work: (handle: LockHandle) => Result | Promise<Result>,
    options: HoldLockOptions = {},
  ): Promise<Result> {
    return withHandle(await this.hold(namespace, name, options), work);
  }

  #acquire(
    namespace: string,
    name: string,
    options: AcquireLockOptions & InSession,
  ): Promise<Execution<AcquireLockResponse>> {
    const value = options.value === undefined ? NO_VALUE : bytesField("value", options.value);
    const request = { ...lockTarget(namespace, name), ...acquisitionFields(options, 0), value };
    return executeAcquisition(this.#context, acquireLockMethod, request, options);
  }

  #renew(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    fencingToken: number,
    options: RenewOptions,
    persistence: Persistence,
  ): Promise<Execution<AcquireLockResponse>> {
    const request = { ...lockTarget(namespace, name), ...acquisitionFields(options, fencingToken), value: NO_VALUE };
    return execute(this.#context, acquireLockMethod, request, options, persistence);
  }
}

/** Takes a lock of any kind from its holders. */
export async function forceRelease(
  context: OperationContext,
  { namespace, name, rw }: { readonly namespace: string; readonly name: string; readonly rw: boolean },
  options: ForceReleaseOptions,
): Promise<ForceReleaseLockResponse> {
  checkForceRelease(options, "forceRelease");
  const request = {
    ...lockTarget(namespace, name),
    fencingToken: int64Field("fencingToken", options.fencingToken ?? 0),
    reason: textField("reason", options.reason ?? ""),
    rw,
  };
  return (await execute(context, forceReleaseLockMethod, request, options)).message;
}

function acquireResult(execution: Execution<AcquireLockResponse>): AcquireLockResult {
  const { message } = execution;
  return {
    ...toPlain(message),
    state: stateName(message.state),
    holder: holderOf(message),
    deadlineMs: message.acquired ? grantOf(execution).deadlineMs : undefined,
  };
}

function holderOf({ holder }: Pick<AcquireLockResponse, "holder">): LockHold | undefined {
  return holder === undefined ? undefined : exclusiveHold(holder);
}
