/**
 * What a reader outside of apply can see of a request: its outcome, or its state so far. A retry of the request would
 * get the same.
 */

import type { ProposalOrigin } from "../raft/index.ts";
import type { Outcome, Principal, RequestIdentity, StateReader } from "./core/index.ts";
import { acquireResult, describeHold, goneSince, lockLost, superseded } from "./locks/index.ts";
import { ANSWERS } from "./operations.ts";
import { type Acquisition, findStoredRequest, isSameAttempt } from "./replay/index.ts";

/** The point in time of the look-up. */
export interface ReadContext {
  /** Cluster tick from which the remaining times of holds count. */
  readonly tickMs: number;
  /** Answers from before this cluster tick do not count. */
  readonly sinceMs: number;
  readonly revision: number;
}

/**
 * The outcome of the request, whichever of its attempts ran; null if nothing is stored about it. A request that renewed
 * a hold, or changed its mode, gets the hold as it is now, or LOCK_LOST.
 */
export function storedOutcome(
  reader: StateReader,
  subject: string,
  request: RequestIdentity,
  at: ReadContext,
): Outcome | null {
  const found = findStoredRequest(ANSWERS, reader, subject, request, at.sinceMs);
  if (found === null) {
    return null;
  }
  return "outcome" in found ? found.outcome : currentOutcome(reader, found.acquisition, at);
}

/**
 * The outcome of this attempt to acquire a lock, possibly that it is queued; null if nothing is stored about the
 * request. If a newer attempt of the same request exists, the outcome is `unknown`.
 */
export function acquisitionOutcome(
  reader: StateReader,
  { principal, request, attempt }: { principal: Principal; request: RequestIdentity; attempt: ProposalOrigin },
  at: ReadContext,
): Outcome | null {
  const found = findStoredRequest(ANSWERS, reader, principal.subject, request, at.sinceMs);
  if (found === null || "outcome" in found) {
    return found === null ? null : found.outcome;
  }
  const isNewest = isSameAttempt(found.acquisition.attempt, attempt);
  return isNewest ? currentOutcome(reader, found.acquisition, at) : { answer: superseded(), replayed: "no" };
}

function currentOutcome(reader: StateReader, acquisition: Acquisition, at: ReadContext): Outcome {
  const { lock, status, number } = acquisition;
  if (status === "cancelled") {
    return { answer: superseded(), replayed: "no" };
  }
  if (status === "queued") {
    return { answer: { kind: "queued-lock", revision: at.revision }, replayed: "no" };
  }
  const found = describeHold(reader, lock, number);
  if (found === undefined) {
    return { answer: goneSince(acquisition), replayed: "yes" };
  }
  const { view, hold } = found;
  if (status === "granted" && hold === null) {
    return { answer: lockLost(lock, number), replayed: "yes" };
  }
  // The time of the grant is no longer known; 0 makes the holder's own deadline err early.
  return { answer: acquireResult(view, hold, { ...at, waitedMs: 0 }), replayed: "yes" };
}
