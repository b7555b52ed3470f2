/** Refusals of lock requests that several places raise. */

import { CoordinationError, type LockName } from "../core/index.ts";
import { kindOf, quote } from "./lock-rows.ts";

/** The hold with this token has ended. */
export function lockLost(lock: LockName, token: number): CoordinationError {
  return new CoordinationError("LOCK_LOST", `hold ${token} of ${kindOf(lock)} ${quote(lock)} is not live any more`);
}

/** The answer to an attempt to acquire a lock when a newer attempt of the same request arrives. */
export function superseded(): CoordinationError {
  const message = "another attempt of the same request has taken the place of this one";
  return new CoordinationError("LEADER_CHANGED", message, { outcome: "unknown" });
}
