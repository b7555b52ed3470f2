/**
 * LockService: exclusive locks, read-write locks and semaphores.
 *
 * Each method turns a request into an operation or a query, and a result into a response. The state machine decides who
 * holds a lock, who waits, and whether a token is still valid. In answers to Acquire, remaining times count from the
 * log entry that is answered (S23). In all other answers they count from now.
 */

import {
  type AcquireLockRequest,
  type AcquireLockResponse,
  type AcquireRWLockRequest,
  type AcquireRWLockResponse,
  type AcquireSemaphoreRequest,
  type AcquireSemaphoreResponse,
  type CreateLockRequest,
  type CreateLockResponse,
  type CreateRWLockRequest,
  type CreateRWLockResponse,
  type CreateSemaphoreRequest,
  type DeleteLockRequest,
  type DeleteLockResponse,
  type DescribeLockRequest,
  type DescribeLockResponse,
  type DescribeRWLockRequest,
  type DescribeRWLockResponse,
  type DescribeSemaphoreResponse,
  type ForceReleaseLockRequest,
  type ForceReleaseLockResponse,
  type ReadConsistency,
  type ReleaseLockRequest,
  type ReleaseLockResponse,
  type ReleaseRWLockRequest,
  type ReleaseRWLockResponse,
  RWMode,
  type SetLockValueRequest,
  type SetLockValueResponse,
  type UpdateSemaphoreRequest,
  type UpdateSemaphoreResponse,
} from "@quoin/proto";
import {
  type AcquireLock,
  type AcquireLockResult,
  acquireClaimOperation,
  acquireLockOperation,
  type Claim,
  createLockOperation,
  createSemaphoreOperation,
  deleteLockOperation,
  describeLock,
  forceReleaseLockOperation,
  type LockMode,
  type LockName,
  type LockView,
  releaseLockOperation,
  releasePermitsOperation,
  setLockValueOperation,
  updateSemaphoreOperation,
} from "../../state/index.ts";
import type { Call, CancellableCall, Reply } from "./call.ts";
import type { Executor, Query } from "./executor.ts";
import {
  claimedPermitsField,
  claimedValueField,
  consistencyField,
  fencingTokenField,
  heldTokenField,
  holdTtlField,
  holdValueField,
  labelField,
  lockDelayField,
  lockNameField,
  modeField,
  namespaceField,
  optionalModeField,
  ownSessionField,
  permitsField,
  waitField,
} from "./field-rules.ts";
import type { HostReplica } from "./host.ts";
import { lockHold, lockHolds, MODES, STATES } from "./lock-messages.ts";
import { remainingMs } from "./remaining-time.ts";

/** Default time to live of the holds of a lock, in seconds, if CreateLock names none. */
const TTL_SECONDS_DEFAULT = 30;

interface LockQuery extends Query, LockName {}

/** The kind of lock that a method is about. */
interface Kind {
  readonly rw: boolean;
  readonly isSemaphore: boolean;
}

const EXCLUSIVE: Kind = { rw: false, isSemaphore: false };
const READ_WRITE: Kind = { rw: true, isSemaphore: false };
const SEMAPHORE: Kind = { rw: false, isSemaphore: true };

/** Fields that all requests about locks have. */
interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** Milliseconds that a request may wait; 0 for a negative value, which is refused later with the other fields. */
export function waitMsOf({ waitMs }: Pick<AcquireLockRequest, "waitMs">): number {
  return waitMs > 0n ? waitField(waitMs) : 0;
}

export class LockMethods {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  createLock(call: Call, request: CreateLockRequest, reply: Reply<CreateLockResponse>): void {
    this.#create(call, request, false, reply);
  }

  createRWLock(call: Call, request: CreateRWLockRequest, reply: Reply<CreateRWLockResponse>): void {
    this.#create(call, request, true, reply);
  }

  describeLock(call: Call, request: DescribeLockRequest, reply: Reply<DescribeLockResponse>): void {
    this.#describe(
      call,
      request,
      EXCLUSIVE,
      ({ lock, state, holds }, replica) => ({
        ...describedLock(lock, state, replica),
        holder: lockHolds(holds, replica.tickMs)[0],
        waiters: lock.waitingReaders + lock.waitingWriters,
      }),
      reply,
    );
  }

  describeRWLock(call: Call, request: DescribeRWLockRequest, reply: Reply<DescribeRWLockResponse>): void {
    this.#describe(
      call,
      request,
      READ_WRITE,
      ({ lock, state, holds }, replica) => ({
        ...describedLock(lock, state, replica),
        holders: lockHolds(holds, replica.tickMs),
        waitingReaders: lock.waitingReaders,
        waitingWriters: lock.waitingWriters,
      }),
      reply,
    );
  }

  describeSemaphore(call: Call, request: DescribeLockRequest, reply: Reply<DescribeSemaphoreResponse>): void {
    this.#describe(
      call,
      request,
      SEMAPHORE,
      ({ lock, state, holds }, replica) => ({
        ...describedLock(lock, state, replica),
        permits: lock.permits,
        heldPermits: lock.heldPermits,
        holders: lockHolds(holds, replica.tickMs),
        waiters: lock.waitingReaders + lock.waitingWriters,
      }),
      reply,
    );
  }

  acquireLock(call: CancellableCall, request: AcquireLockRequest, reply: Reply<AcquireLockResponse>): void {
    this.#executor.acquire(
      call,
      request.value.length > 0 ? acquireClaimOperation : acquireLockOperation,
      request.namespace,
      () => acquireOperation(request, { mode: "exclusive", ...claimedValueField(request.value) }),
      (result) => ({
        ...acquired(result),
        holder: lockHolds(result.holds, result.tickMs)[0],
      }),
      reply,
    );
  }

  acquireRWLock(call: CancellableCall, request: AcquireRWLockRequest, reply: Reply<AcquireRWLockResponse>): void {
    this.#executor.acquire(
      call,
      acquireLockOperation,
      request.namespace,
      () => acquireOperation(request, { mode: modeField(request.mode) }),
      (result) => ({
        ...acquired(result),
        mode: result.hold === null ? RWMode.RW_MODE_UNSPECIFIED : MODES[result.hold.mode],
        holders: lockHolds(result.holds, result.tickMs),
      }),
      reply,
    );
  }

  acquireSemaphore(
    call: CancellableCall,
    request: AcquireSemaphoreRequest,
    reply: Reply<AcquireSemaphoreResponse>,
  ): void {
    const claim = () => claimedPermitsField(request.permits, request.fencingToken);
    this.#executor.acquire(
      call,
      acquireClaimOperation,
      request.namespace,
      () => acquireOperation(request, { mode: "permits", ...claim() }),
      (result) => ({
        ...acquired(result),
        permits: result.permits ?? 0,
        heldPermits: result.heldPermits ?? 0,
        holders: lockHolds(result.holds, result.tickMs),
      }),
      reply,
    );
  }

  releaseLock(call: Call, request: ReleaseLockRequest, reply: Reply<ReleaseLockResponse>): void {
    this.#release(call, request, EXCLUSIVE, () => null, reply);
  }

  releaseRWLock(call: Call, request: ReleaseRWLockRequest, reply: Reply<ReleaseRWLockResponse>): void {
    this.#release(call, request, READ_WRITE, () => optionalModeField(request.mode), reply);
  }

  releaseSemaphore(call: Call, request: ReleaseLockRequest, reply: Reply<ReleaseLockResponse>): void {
    this.#release(call, request, SEMAPHORE, () => "permits", reply);
  }

  setLockValue(call: Call, request: SetLockValueRequest, reply: Reply<SetLockValueResponse>): void {
    this.#executor.mutate(
      call,
      setLockValueOperation,
      request.namespace,
      () => ({
        kind: "set-lock-value",
        ...named(request),
        fencingToken: heldTokenField("", request.fencingToken),
        owner: labelField("owner", request.owner),
        value: holdValueField(request.value),
      }),
      ({ revision }) => ({ revision: BigInt(revision) }),
      reply,
    );
  }

  forceReleaseLock(call: Call, request: ForceReleaseLockRequest, reply: Reply<ForceReleaseLockResponse>): void {
    this.#executor.mutate(
      call,
      forceReleaseLockOperation,
      request.namespace,
      () => ({
        kind: "force-release-lock",
        ...lockName(request, request.rw),
        fencingToken: fencingTokenField(request.fencingToken),
        reason: labelField("reason", request.reason),
      }),
      ({ previous, revision }, tickMs) => ({
        released: previous !== null,
        previous: previous === null ? undefined : lockHold(previous, tickMs),
        revision: BigInt(revision),
      }),
      reply,
    );
  }

  deleteLock(call: Call, request: DeleteLockRequest, reply: Reply<DeleteLockResponse>): void {
    this.#delete(call, request, EXCLUSIVE, reply);
  }

  deleteRWLock(call: Call, request: DeleteLockRequest, reply: Reply<DeleteLockResponse>): void {
    this.#delete(call, request, READ_WRITE, reply);
  }

  deleteSemaphore(call: Call, request: DeleteLockRequest, reply: Reply<DeleteLockResponse>): void {
    this.#delete(call, request, SEMAPHORE, reply);
  }

  createSemaphore(call: Call, request: CreateSemaphoreRequest, reply: Reply<CreateLockResponse>): void {
    this.#executor.mutate(
      call,
      createSemaphoreOperation,
      request.namespace,
      () => ({
        kind: "create-semaphore",
        ...named(request),
        permits: permitsField(request.permits),
        ttlSeconds: holdTtlField(request.ttlSeconds, TTL_SECONDS_DEFAULT),
      }),
      (created) => createdLock(request, created),
      reply,
    );
  }

  updateSemaphore(call: Call, request: UpdateSemaphoreRequest, reply: Reply<UpdateSemaphoreResponse>): void {
    this.#executor.mutate(
      call,
      updateSemaphoreOperation,
      request.namespace,
      () => ({ kind: "update-semaphore", ...named(request), permits: permitsField(request.permits) }),
      ({ revision }) => ({ revision: BigInt(revision) }),
      reply,
    );
  }

  #delete(call: Call, request: DeleteLockRequest, kind: Kind, reply: Reply<DeleteLockResponse>): void {
    const { namespace, force } = request;
    this.#executor.submit(
      call,
      deleteLockOperation,
      { access: force ? "admin" : "write", namespace },
      () => ({
        kind: "delete-lock",
        ...lockName(request, kind.rw),
        force,
        ...(kind.isSemaphore && { semaphore: true }),
      }),
      ({ revision }) => ({ revision: BigInt(revision) }),
      reply,
    );
  }

  #create(
    call: Call,
    request: CreateLockRequest | CreateRWLockRequest,
    rw: boolean,
    reply: Reply<CreateLockResponse>,
  ): void {
    this.#executor.mutate(
      call,
      createLockOperation,
      request.namespace,
      () => ({
        kind: "create-lock",
        ...lockName(request, rw),
        ttlSeconds: holdTtlField(request.ttlSeconds, TTL_SECONDS_DEFAULT),
        lockDelaySeconds: lockDelayField(request.lockDelaySeconds),
      }),
      (created) => createdLock(request, created),
      reply,
    );
  }

  #describe<Response>(
    call: Call,
    request: DescribeLockRequest,
    { rw, isSemaphore }: Kind,
    response: (view: LockView, replica: HostReplica) => Response,
    reply: Reply<Response>,
  ): void {
    this.#executor.read(
      call,
      { access: "read", namespace: request.namespace },
      (): LockQuery => ({ ...lockName(request, rw), consistency: consistency(request) }),
      (replica, query) => response(describeLock(replica.state, query, isSemaphore), replica),
      reply,
      "locks",
    );
  }

  #release(
    call: Call,
    request: ReleaseLockRequest,
    { rw, isSemaphore }: Kind,
    mode: () => LockMode | null,
    reply: Reply<ReleaseLockResponse>,
  ): void {
    this.#executor.mutate(
      call,
      isSemaphore ? releasePermitsOperation : releaseLockOperation,
      request.namespace,
      () => ({
        kind: "release-lock",
        ...lockName(request, rw),
        mode: mode(),
        owner: labelField("owner", request.owner),
        fencingToken: fencingTokenField(request.fencingToken),
      }),
      ({ revision }) => ({ released: true, revision: BigInt(revision) }),
      reply,
    );
  }
}

function lockName({ namespace, name }: Named, rw: boolean): LockName {
  return { rw, ...named({ namespace, name }) };
}

function named({ namespace, name }: Named): Named {
  return { namespace: namespaceField(namespace), name: lockNameField("name", name) };
}

function createdLock(
  { name }: Named,
  { createdAtMs, revision }: { readonly createdAtMs: number; readonly revision: number },
): CreateLockResponse {
  return { name, createdAtMs: BigInt(createdAtMs), revision: BigInt(revision) };
}

function consistency(request: { readonly consistency: ReadConsistency }): ReadConsistency {
  return consistencyField(request.consistency);
}

function acquireOperation(
  request: AcquireLockRequest | AcquireRWLockRequest | AcquireSemaphoreRequest,
  claim: Claim,
): AcquireLock {
  return {
    kind: "acquire-lock",
    namespace: namespaceField(request.namespace),
    name: lockNameField("name", request.name),
    ...claim,
    ...ownSessionField(request.sessionId),
    // 0 stays 0: the state machine then uses the lock's default.
    ttlSeconds: holdTtlField(request.ttlSeconds, 0),
    owner: labelField("owner", request.owner),
    waitMs: waitField(request.waitMs),
    fencingToken: fencingTokenField(request.fencingToken),
  };
}

/** The fields that the answers to all kinds of acquisitions share. */
function acquired({ hold, state, queueLength, waitedMs, tickMs, revision }: AcquireLockResult) {
  return {
    acquired: hold !== null,
    fencingToken: BigInt(hold?.token ?? 0),
    ttlSeconds: BigInt(hold?.ttlSeconds ?? 0),
    expiresInMs: hold === null ? 0n : remainingMs(hold.deadlineMs, tickMs),
    queueLength,
    state: STATES[state],
    waitedMs: BigInt(waitedMs),
    revision: BigInt(revision),
  };
}

/** The fields that the descriptions of all kinds of locks share. */
function describedLock(lock: LockView["lock"], state: LockView["state"], { revision }: HostReplica) {
  return {
    name: lock.name,
    state: STATES[state],
    ttlSeconds: BigInt(lock.ttlSeconds),
    lockDelaySeconds: BigInt(lock.lockDelaySeconds),
    lastFencingToken: BigInt(lock.lastToken),
    createdAtMs: BigInt(lock.createdAtMs),
    revision: BigInt(revision),
  };
}
