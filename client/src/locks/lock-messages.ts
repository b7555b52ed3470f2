/** Locks of all kinds in the form of the SDK: enums by name, and counts as numbers. */

import { enumName, type LockHold as LockHoldMessage, LockState as LockStateNumber, RWMode } from "@quoin/proto";
import {
  type CallOptions,
  type Execution,
  execute,
  type OperationContext,
  type Persistence,
  type Plain,
  toPlain,
  type UnaryMethod,
} from "../calls/index.ts";
import { callRules, flag, int64Field, oneOf, type Rule, text, textField, whole } from "../options/index.ts";

/** The state of a lock; a decimal number if this client is too old to know it. */
export type LockState = "FREE" | "HELD" | "READ_HELD" | "WRITE_HELD" | "COOLDOWN" | (string & {});

/** Mode of a hold on a read-write lock: shared by any number of holders, or exclusive. */
export type LockMode = "READ" | "WRITE";

/** What the holds of all kinds of locks have. */
type AnyHold = Omit<Plain<LockHoldMessage>, "mode" | "permits" | "value">;

/** One live hold of an exclusive lock. */
export type LockHold = AnyHold & {
  /** What its holder shows; empty = nothing. */
  value: Uint8Array;
};

/** One live hold of a read-write lock. */
export type ReadWriteLockHold = AnyHold & { mode: LockMode };

/** One live hold of a semaphore. */
export type SemaphoreHold = AnyHold & { permits: number };

/** Options of the creation of a lock. */
export interface CreateLockOptions extends CallOptions {
  /** How long a hold lasts without renewal and without its own ttl, in seconds, 1 to 86,400. Default 30. */
  readonly ttlSeconds?: number | undefined;
  /** Seconds that must pass after an expired or forced hold before the next exclusive one, 0 to 60. Default 0. */
  readonly lockDelaySeconds?: number | undefined;
}

/** Options of a request for a lock. */
export interface AcquireOptions extends CallOptions {
  /** How long the hold lasts without renewal, in seconds from the grant, 1 to 86,400. Default: that of the lock. */
  readonly ttlSeconds?: number | undefined;
  /** Label of the holder, at most 256 bytes. Default: the subject of the token. */
  readonly owner?: string | undefined;
  /**
   * How long to wait while others hold the lock, in milliseconds; together with `timeoutMs` at most an hour. Default 0
   * = try once. A wait survives the loss of members, and keeps its place in the queue.
   */
  readonly waitMs?: number | undefined;
}

/** An option of a request for a hold that is not renewed by itself. */
export interface InSession {
  /** Id of a session of this user, with which the hold ends; `ttlSeconds` must then be absent. */
  readonly sessionId?: number | undefined;
}

/** Options of a request for an exclusive lock. */
export interface AcquireLockOptions extends AcquireOptions {
  /** What the hold shows to others, at most 1,024 bytes; a text in UTF-8. Default: nothing. */
  readonly value?: string | Uint8Array | undefined;
}

/** Options of a renewal. */
export type RenewOptions = Omit<AcquireOptions, "waitMs">;

/** Options of a release. */
export interface ReleaseLockOptions extends CallOptions {
  /** Token of the hold. Default: the hold of the caller's subject and `owner`. */
  readonly fencingToken?: number | undefined;
  /** Label of the holder, as given to acquire. Default: the subject of the token. */
  readonly owner?: string | undefined;
}

/** Options of a release by force. */
export interface ForceReleaseOptions extends CallOptions {
  /** Only if the hold with this token is still live. Default: any hold. */
  readonly fencingToken?: number | undefined;
  /** Why, for the record; at most 256 bytes. */
  readonly reason?: string | undefined;
}

/** Options of a deletion. */
export interface DeleteLockOptions extends CallOptions {
  /** Delete the lock although it is in use. Default: false. */
  readonly force?: boolean | undefined;
}

/** The rules for the options of the calls of all kinds of locks. */
export const lockRules = {
  create: { ...callRules, ttlSeconds: whole, lockDelaySeconds: whole },
  renew: { ...callRules, ttlSeconds: whole, owner: text },
  acquire: { ...callRules, ttlSeconds: whole, owner: text, waitMs: whole },
  release: { ...callRules, fencingToken: whole, owner: text },
  forceRelease: { ...callRules, fencingToken: whole, reason: text },
  delete: { ...callRules, force: flag },
};

/** The rule of a mode. */
export const modeRule: Rule<LockMode> = oneOf("READ", "WRITE");

/** A granted hold. */
export interface Grant {
  readonly fencingToken: number;
  readonly ttlSeconds: number;
  /** When it ends without renewal, on the runtime's clock; it errs early (rule S23). */
  readonly deadlineMs: number;
}

/** Retries as often as the deadline allows, because giving up would lose the place in the queue. */
const WAITING_PERSISTENCE: Persistence = { maxAttempts: Number.POSITIVE_INFINITY };

/** The lock of a request. */
export function lockTarget(namespace: string, name: string): { namespace: string; name: string } {
  return { namespace: textField("namespace", namespace), name: textField("name", name) };
}

/** The common fields for creating exclusive and read-write locks. */
export function creationFields({ ttlSeconds = 0, lockDelaySeconds = 0 }: CreateLockOptions) {
  return {
    ttlSeconds: int64Field("ttlSeconds", ttlSeconds),
    lockDelaySeconds: int64Field("lockDelaySeconds", lockDelaySeconds),
  };
}

/** The common fields for acquiring all kinds of locks. */
export function acquisitionFields(
  { ttlSeconds = 0, owner = "", waitMs = 0, sessionId = 0 }: AcquireOptions & InSession,
  fencingToken: number,
) {
  return {
    sessionId: int64Field("sessionId", sessionId),
    ttlSeconds: int64Field("ttlSeconds", ttlSeconds),
    owner: textField("owner", owner),
    waitMs: int64Field("waitMs", waitMs),
    fencingToken: int64Field("fencingToken", fencingToken),
  };
}

/** The common fields for releasing all kinds of locks. */
export function releaseFields({ fencingToken = 0, owner = "" }: ReleaseLockOptions) {
  return { owner: textField("owner", owner), fencingToken: int64Field("fencingToken", fencingToken) };
}

/**
 * Requests a lock. A waiting request is repeated with its request id until its time is up, whatever happens to members.
 * So it keeps its place, and no hold is granted twice (rule S24).
 */
export function executeAcquisition<Request, Response>(
  context: OperationContext,
  method: UnaryMethod<Request, Response>,
  request: Request,
  options: AcquireOptions,
): Promise<Execution<Response>> {
  const { waitMs = 0, timeoutMs = context.timeoutMs } = options;
  if (waitMs <= 0) {
    return execute(context, method, request, options);
  }
  return execute(context, method, request, { ...options, timeoutMs: waitMs + timeoutMs }, WAITING_PERSISTENCE);
}

/** The grant in a successful answer. */
export function grantOf({
  message,
  attemptStartMs,
}: Pick<
  Execution<{ fencingToken: bigint; ttlSeconds: bigint; waitedMs: bigint; expiresInMs: bigint }>,
  "message" | "attemptStartMs"
>): Grant {
  return {
    fencingToken: Number(message.fencingToken),
    ttlSeconds: Number(message.ttlSeconds),
    deadlineMs: attemptStartMs + Number(message.waitedMs) + Number(message.expiresInMs),
  };
}

/** The name of a state. */
export function stateName(state: LockStateNumber): LockState {
  return enumName(LockStateNumber, state);
}

/** A hold of an exclusive lock. */
export function exclusiveHold(hold: LockHoldMessage): LockHold {
  return { ...anyHold(hold), value: hold.value };
}

/** A hold of a read-write lock. */
export function readWriteHold(hold: LockHoldMessage): ReadWriteLockHold {
  return { ...anyHold(hold), mode: modeName(hold.mode) };
}

/** A hold of a semaphore. */
export function semaphoreHold(hold: LockHoldMessage): SemaphoreHold {
  return { ...anyHold(hold), permits: hold.permits };
}

function anyHold(hold: LockHoldMessage): AnyHold {
  const { mode: _mode, permits: _permits, value: _value, ...rest } = toPlain(hold);
  return rest;
}

/** The mode name of a read-write lock's hold. */
export function modeName(mode: RWMode): LockMode {
  return mode === RWMode.WRITE ? "WRITE" : "READ";
}

/** The field of a request; undefined = either mode. */
export function modeField(mode: LockMode | undefined): RWMode {
  if (mode === undefined) {
    return RWMode.RW_MODE_UNSPECIFIED;
  }
  modeRule(mode, "mode");
  return RWMode[mode];
}
