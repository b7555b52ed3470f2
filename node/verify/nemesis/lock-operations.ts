/** Performs lock operations at members, and converts their answers to those of a history. */

import {
  AcquireLockRequest,
  type AcquireLockResponse,
  AcquireRWLockRequest,
  type AcquireRWLockResponse,
  AcquireSemaphoreRequest,
  type AcquireSemaphoreResponse,
  DescribeLockRequest,
  DescribeRWLockRequest,
  DescribeSemaphoreRequest,
  type DescribeSemaphoreResponse,
  ForceReleaseLockRequest,
  type LockHold,
  LockState,
  PutKeyRequest,
  ReleaseLockRequest,
  ReleaseRWLockRequest,
  ReleaseSemaphoreRequest,
  RWMode,
  serviceDefinitions,
  WriteMemoryRequest,
} from "@quoin/proto";
import type { LockAnswer, LockMode, LockOperation, LockView } from "../history/index.ts";
import type { AskOptions, CallResult, MemberCalls } from "./member-calls.ts";

const { KeyValueService, LockService, MemoryService } = serviceDefinitions;
const MS_PER_SECOND = 1_000;

export interface LockInUse {
  readonly namespace: string;
  readonly name: string;
  readonly rw: boolean;
  /** Permits of a semaphore; 0 = it is none. */
  readonly permits: number;
  /** Id of the region that its holders write; "" = none. */
  readonly regionId: string;
}

/** Performs an operation on this lock. Guarded writes go to the region, or to a key. */
export function performLockOperation(
  calls: MemberCalls,
  lock: LockInUse,
  operation: LockOperation,
  options?: AskOptions,
): Promise<CallResult<LockAnswer>> {
  switch (operation.kind) {
    case "acquire": {
      const { owner, mode, ttlMs, waitMs, session = 0, permits = 0 } = operation;
      const life = { ttlSeconds: secondsOf(ttlMs), sessionId: BigInt(session) };
      return acquire(calls, lock, mode, { owner, waitMs: BigInt(waitMs), permits, ...life }, options);
    }
    case "change": {
      const { token, mode, ttlMs } = operation;
      return acquire(calls, lock, mode, { fencingToken: BigInt(token), ttlSeconds: secondsOf(ttlMs) }, options);
    }
    case "release":
      return release(calls, lock, operation.token, options);
    case "force-release":
      return forceRelease(calls, lock, operation.token, options);
    case "guarded-write":
      return guardedWrite(calls, lock, operation, options);
    case "describe":
      return describe(calls, lock, options);
  }
}

async function acquire(
  calls: MemberCalls,
  { namespace, name, rw, permits }: LockInUse,
  mode: LockMode,
  fields: object,
  options?: AskOptions,
): Promise<CallResult<LockAnswer>> {
  const named = { namespace, name, ...fields };
  if (permits > 0) {
    const request = AcquireSemaphoreRequest.fromPartial(named);
    return answered(await calls.ask(LockService.acquireSemaphore, request, options), acquisitionOf);
  }
  if (rw) {
    const request = AcquireRWLockRequest.fromPartial({ ...named, mode: mode === "read" ? RWMode.READ : RWMode.WRITE });
    return answered(await calls.ask(LockService.acquireRWLock, request, options), acquisitionOf);
  }
  return answered(
    await calls.ask(LockService.acquireLock, AcquireLockRequest.fromPartial(named), options),
    acquisitionOf,
  );
}

async function release(calls: MemberCalls, lock: LockInUse, token: number, options?: AskOptions) {
  const { namespace, name, rw, permits } = lock;
  const fields = { namespace, name, fencingToken: BigInt(token) };
  const asked =
    permits > 0
      ? await calls.ask(LockService.releaseSemaphore, ReleaseSemaphoreRequest.fromPartial(fields), options)
      : rw
        ? await calls.ask(LockService.releaseRWLock, ReleaseRWLockRequest.fromPartial(fields), options)
        : await calls.ask(LockService.releaseLock, ReleaseLockRequest.fromPartial(fields), options);
  return answered(asked, ({ revision }) => ({ kind: "released", revision: Number(revision) }));
}

async function forceRelease(calls: MemberCalls, lock: LockInUse, token: number, options?: AskOptions) {
  const { namespace, name, rw } = lock;
  const request = ForceReleaseLockRequest.fromPartial({ namespace, name, rw, fencingToken: BigInt(token) });
  return answered(await calls.ask(LockService.forceReleaseLock, request, options), ({ released, revision }) => {
    return { kind: released ? "released" : "nothing-released", revision: Number(revision) };
  });
}

async function guardedWrite(
  calls: MemberCalls,
  { namespace, name, rw, regionId }: LockInUse,
  { token, what }: LockOperation & { readonly kind: "guarded-write" },
  options?: AskOptions,
) {
  const guard = { lockName: name, fencingToken: BigInt(token), rw };
  const asked: CallResult<{ readonly revision: bigint }> =
    what === "memory"
      ? await calls.ask(
          MemoryService.writeMemory,
          WriteMemoryRequest.fromPartial({ namespace, regionId, data: Buffer.from(String(token)), guard }),
          options,
        )
      : await calls.ask(
          KeyValueService.putKey,
          PutKeyRequest.fromPartial({ namespace, key: `guarded-by-${name}`, value: Buffer.from(String(token)), guard }),
          options,
        );
  return answered(asked, ({ revision }) => ({ kind: "written", revision: Number(revision) }));
}

async function describe(calls: MemberCalls, { namespace, name, rw, permits }: LockInUse, options?: AskOptions) {
  if (permits > 0) {
    const request = DescribeSemaphoreRequest.fromPartial({ namespace, name });
    const asked = await calls.ask(LockService.describeSemaphore, request, options);
    return answered(asked, (response) => ({ kind: "described", view: semaphoreViewOf(response, response.waiters) }));
  }
  if (rw) {
    const request = DescribeRWLockRequest.fromPartial({ namespace, name });
    const asked = await calls.ask(LockService.describeRWLock, request, options);
    return answered(asked, ({ state, holders, waitingReaders, waitingWriters, revision }) => {
      return { kind: "described", view: viewOf(state, holders, waitingReaders + waitingWriters, revision) };
    });
  }
  const asked = await calls.ask(
    LockService.describeLock,
    DescribeLockRequest.fromPartial({ namespace, name }),
    options,
  );
  return answered(asked, ({ state, holder, waiters, revision }) => {
    return { kind: "described", view: viewOf(state, holder === undefined ? [] : [holder], waiters, revision) };
  });
}

/** A refusal that was decided during execution counts as an answer. */
function answered<Response>(
  asked: CallResult<Response>,
  answerOf: (response: Response, isRepeated: boolean) => LockAnswer,
): CallResult<LockAnswer> {
  switch (asked.kind) {
    case "ok":
      return { ...asked, response: answerOf(asked.response, asked.isRepeated) };
    case "refused":
      return { kind: "ok", response: asked, isRepeated: false };
    default:
      return asked;
  }
}

function acquisitionOf(
  response: AcquireLockResponse | AcquireRWLockResponse | AcquireSemaphoreResponse,
  isRepeated: boolean,
): LockAnswer {
  const { acquired, fencingToken, waitedMs, state, queueLength, revision } = response;
  const isSemaphore = "heldPermits" in response;
  const holds = "holders" in response ? response.holders : response.holder === undefined ? [] : [response.holder];
  const view = isSemaphore ? semaphoreViewOf(response, queueLength) : viewOf(state, holds, queueLength, revision);
  const shared = { waitedMs: Number(waitedMs), isRepeated, view };
  const mode = isSemaphore ? "permits" : "mode" in response ? modeOf(response.mode) : "exclusive";
  return acquired
    ? { kind: "acquired", token: Number(fencingToken), mode, ...shared }
    : { kind: "not-acquired", ...shared };
}

function viewOf(state: LockState, holds: readonly LockHold[], waiters: number, revision: bigint): LockView {
  const seen = holds.map(({ owner, fencingToken, mode }) => {
    return { owner, token: Number(fencingToken), mode: modeOf(mode) };
  });
  return { state: stateOf(state), holds: seen, waiters, revision: Number(revision) };
}

function semaphoreViewOf(
  { state, permits, heldPermits, holders, revision }: AcquireSemaphoreResponse | DescribeSemaphoreResponse,
  waiters: number,
): LockView {
  const holds = holders.map(({ owner, fencingToken, permits: own }) => {
    return { owner, token: Number(fencingToken), mode: "permits" as const, permits: own };
  });
  return { state: stateOf(state), holds, waiters, revision: Number(revision), permits, heldPermits };
}

function stateOf(state: LockState): LockView["state"] {
  switch (state) {
    case LockState.FREE:
      return "free";
    case LockState.HELD:
      return "held";
    case LockState.READ_HELD:
      return "read-held";
    case LockState.WRITE_HELD:
      return "write-held";
    case LockState.COOLDOWN:
      return "cooldown";
    default:
      throw new Error(`a lock has an unknown state: ${state}`);
  }
}

/** An exclusive lock's mode is unspecified. */
export function modeOf(mode: RWMode): LockMode {
  return mode === RWMode.READ ? "read" : mode === RWMode.WRITE ? "write" : "exclusive";
}

function secondsOf(ttlMs: number): bigint {
  return BigInt(ttlMs / MS_PER_SECOND);
}
