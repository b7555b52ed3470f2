/** How long a unary call may take, and what is answered when that was too short. */

import { CoordinationError } from "../../state/index.ts";

/** Where the client sets no deadline. */
const DEADLINE_DEFAULT_MS = 5_000;
/** However far away the client's deadline is. */
const DEADLINE_MAX_MS = 60_000;
/** The same for a call that asks to wait for a lock. */
const WAITING_DEADLINE_MAX_MS = 3_600_000;

/**
 * Milliseconds that a call may take from now on; 0 or less = none at all.
 *
 * @param deadline of the call, from `grpc-timeout`: Infinity = the client set none.
 * @param nowMs on the clock of the deadline, Date.now().
 * @param waitMs that the request asks to wait for a lock.
 */
export function allowedMs(deadline: number, nowMs: number, waitMs = 0): number {
  const leftMs = deadline - nowMs;
  const wantedMs = leftMs === Infinity ? waitMs + DEADLINE_DEFAULT_MS : leftMs;
  return Math.min(wantedMs, waitMs > 0 ? WAITING_DEADLINE_MAX_MS : DEADLINE_MAX_MS);
}

/** The outcome is unknown whatever was done: a client need not tell one missed deadline from another (S12). */
export function deadlineExceeded(): CoordinationError {
  const message = "the deadline passed before the answer was there; whether the request was executed is not known";
  return new CoordinationError("DEADLINE", message, { outcome: "unknown" });
}
