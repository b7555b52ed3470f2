/** How long a unary call may take, and what is answered when that was too short. */

import { CoordinationError } from "../../state/index.ts";

/** Where the client sets no deadline. */
const DEADLINE_DEFAULT_MS = 5_000;
/** However far away the client's deadline is. */
const DEADLINE_MAX_MS = 60_000;

/**
 * Milliseconds that a call may take from now on; 0 or less = none at all.
 *
 * @param deadline of the call as the library tells it, from `grpc-timeout`: Infinity = the client set none.
 * @param nowMs on the clock by which the library made the deadline, Date.now().
 */
export function allowedMs(deadline: Date | number, nowMs: number): number {
  const leftMs = Number(deadline) - nowMs;
  return leftMs === Infinity ? DEADLINE_DEFAULT_MS : Math.min(leftMs, DEADLINE_MAX_MS);
}

/** The outcome is unknown whatever was done: a client need not tell one missed deadline from another (S12). */
export function deadlineExceeded(): CoordinationError {
  const message = "the deadline passed before the answer was there; whether the request was executed is not known";
  return new CoordinationError("DEADLINE", message, { outcome: "unknown" });
}
