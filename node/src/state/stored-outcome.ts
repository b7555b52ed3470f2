/**
 * What the state shows of a request to a reader outside of apply: what it came to, or how far it has come. It is what a
 * retry of the request would be answered.
 */

import type { Origin } from "../raft/index.ts";
import { type Acquisition, isSameAttempt } from "./acquisition.ts";
import type { Principal, RequestIdentity } from "./command.ts";
import { lockLost, superseded } from "./lock-refusals.ts";
import { acquireResult, describeLock } from "./lock-view.ts";
import type { Outcome } from "./outcome.ts";
import { findStored } from "./replays.ts";
import type { StateReader } from "./store.ts";

/** When the state is looked at. */
export interface LookedAt {
  /** Cluster tick that what is left of holds counts from. */
  readonly tickMs: number;
  /** Answers from before this cluster tick do not count. */
  readonly sinceMs: number;
  readonly revision: number;
}

/**
 * The outcome of the request, whichever of its attempts was executed; null if nothing is stored about it. A request that
 * renewed a hold, or changed its mode, is answered with the hold as it is now, or with LOCK_LOST.
 */
export function storedOutcome(
  reader: StateReader,
  subject: string,
  request: RequestIdentity,
  at: LookedAt,
): Outcome | null {
  const found = findStored(reader, subject, request, at.sinceMs);
  if (found === null) {
    return null;
  }
  return "outcome" in found ? found.outcome : outcomeSoFar(reader, found.acquisition, at);
}

/**
 * The outcome of this attempt to acquire a lock, which may be that it is queued, or null if nothing is stored about the
 * request. Another attempt of the same request makes it `unknown`.
 */
export function acquisitionOutcome(
  reader: StateReader,
  { principal, request, attempt }: { principal: Principal; request: RequestIdentity; attempt: Origin },
  at: LookedAt,
): Outcome | null {
  const found = findStored(reader, principal.subject, request, at.sinceMs);
  if (found === null || "outcome" in found) {
    return found === null ? null : found.outcome;
  }
  const isNewest = isSameAttempt(found.acquisition.attempt, attempt);
  return isNewest ? outcomeSoFar(reader, found.acquisition, at) : { answer: superseded(), replayed: "no" };
}

function outcomeSoFar(reader: StateReader, { lock, status, number }: Acquisition, at: LookedAt): Outcome {
  if (status === "cancelled") {
    return { answer: superseded(), replayed: "no" };
  }
  if (status === "queued") {
    return { answer: { kind: "queued-lock", revision: at.revision }, replayed: "no" };
  }
  const view = describeLock(reader, lock);
  const hold = view.holds.find(({ token }) => token === number) ?? null;
  if (status === "granted" && hold === null) {
    return { answer: lockLost(lock, number), replayed: "yes" };
  }
  // When it was granted is not known any more: 0 makes the holder's own deadline err early.
  return { answer: acquireResult(view, hold, { ...at, waitedMs: 0 }), replayed: "yes" };
}
