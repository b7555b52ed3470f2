/** How long a unary call may take, and the answer when its deadline passes. */

import { turnsOfThisThread } from "../../collections/index.ts";
import { CoordinationError } from "../../state/index.ts";
import { status } from "./grpc-status.ts";
import { type CallStatus, plainStatus } from "./status.ts";

/** The deadline if the client sets none. */
const DEADLINE_DEFAULT_MS = 5_000;
/** Maximum for any deadline of a client. */
const DEADLINE_MAX_MS = 60_000;
/** Maximum for a call that waits for a lock. */
const WAITING_DEADLINE_MAX_MS = 3_600_000;

/**
 * Returns how many milliseconds a call may take from now on; 0 or less = the deadline has passed.
 *
 * @param deadline of the call, from `grpc-timeout`; Infinity = the client set none.
 * @param nowMs present time on the clock of the deadline, Date.now().
 * @param waitMs milliseconds that the request may wait for a lock.
 */
export function allowedMs(deadline: number, nowMs: number, waitMs = 0): number {
  const leftMs = deadline - nowMs;
  const wantedMs = leftMs === Infinity ? waitMs + DEADLINE_DEFAULT_MS : leftMs;
  return Math.min(wantedMs, waitMs > 0 ? WAITING_DEADLINE_MAX_MS : DEADLINE_MAX_MS);
}

/**
 * Starts a timer for a deadline. Thousands of calls may have the same one, so what they do then takes turns. It may
 * still be done after `clearTimeout`, so it must look whether the call has ended.
 */
export function startDeadline(caller: string, ms: number, onMissed: () => void, turns = turnsOfThisThread) {
  return setTimeout(() => turns.run(caller, onMissed), ms);
}

/** The outcome is always unknown, so a client need not distinguish one missed deadline from another (S12). */
export function deadlineExceeded(): CoordinationError {
  const message = "the deadline passed before the answer was ready; it is not known whether the request was executed";
  return new CoordinationError("DEADLINE", message, { outcome: "unknown" });
}

/** The answer to a gRPC call whose `grpc-timeout` cannot be read. */
export function malformedTimeout(): CallStatus {
  return plainStatus(
    status.INVALID_ARGUMENT,
    "grpc-timeout must be a whole number of at most 8 digits and one of the units H, M, S, m, u, n",
  );
}
