/**
 * Guards: a guarded write is executed only while a hold of a lock is live; the service decides this at the very
 * revision of the write. So a paused holder that does not know yet that it has lost the lock changes nothing.
 */

import type { Guard as GuardMessage } from "@quoin/proto";
import {
  callRules,
  callRulesWithoutRequestId,
  flag,
  int64Field,
  type Rule,
  record,
  text,
  textField,
  whole,
} from "../options/index.ts";
import type { CallOptions } from "./operation.ts";

/** A live hold in the namespace of the request; of a read-write lock it must be in mode WRITE. */
export interface Guard {
  readonly lockName: string;
  /** Token of the hold. */
  readonly fencingToken: number;
  /** Whether it is a read-write lock. Default false: an exclusive one. */
  readonly rw?: boolean | undefined;
}

/** A live session in the namespace of the request, of any user. */
export interface SessionGuard {
  readonly sessionId: number;
}

/** Options of a write that may be guarded. */
export interface GuardedOptions extends CallOptions {
  /**
   * The hold or session that must be live, else ABORTED / FENCED and nothing is written. A lock handle has it as
   * `handle.guard`.
   */
  readonly guard?: Guard | SessionGuard | undefined;
}

const holdGuard = record<Guard>({ lockName: text, fencingToken: whole, rw: flag }, ["lockName", "fencingToken"]);
const sessionGuard = record<SessionGuard>({ sessionId: whole }, ["sessionId"]);
const guard: Rule<Guard | SessionGuard> = (value, name) => {
  const isSession = typeof value === "object" && value !== null && "sessionId" in value;
  (isSession ? sessionGuard : holdGuard)(value, name);
};
/** The rules for the options of a guarded write. */
export const guardedRules = { ...callRules, guard };
/** The same for several writes, each of which has a request id of its own. */
export const guardedRulesWithoutRequestId = { ...callRulesWithoutRequestId, guard };

/** The field of a request. */
export function guardField(guard: Guard | SessionGuard | undefined): GuardMessage | undefined {
  if (guard === undefined) {
    return undefined;
  }
  if ("sessionId" in guard) {
    const sessionId = int64Field("guard.sessionId", guard.sessionId);
    return { lockName: "", fencingToken: 0n, rw: false, sessionId };
  }
  return {
    lockName: textField("guard.lockName", guard.lockName),
    fencingToken: int64Field("guard.fencingToken", guard.fencingToken),
    rw: guard.rw ?? false,
  };
}
