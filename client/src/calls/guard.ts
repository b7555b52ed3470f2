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

/** Options of a write that may be guarded. */
export interface GuardedOptions extends CallOptions {
  /**
   * The hold that must be live, else ABORTED / FENCED and nothing is written. A lock handle has it as `handle.guard`.
   */
  readonly guard?: Guard | undefined;
}

const guard = record<Guard>({ lockName: text, fencingToken: whole, rw: flag }, ["lockName", "fencingToken"]);
/** The rules for the options of a guarded write. */
export const guardedRules = { ...callRules, guard };
/** The same for several writes, each of which has a request id of its own. */
export const guardedRulesWithoutRequestId = { ...callRulesWithoutRequestId, guard };

/** The field of a request. */
export function guardField(guard: Guard | undefined): GuardMessage | undefined {
  if (guard === undefined) {
    return undefined;
  }
  return {
    lockName: textField("guard.lockName", guard.lockName),
    fencingToken: int64Field("guard.fencingToken", guard.fencingToken),
    rw: guard.rw ?? false,
  };
}
