/**
 * What access control needs of the replica.
 *
 * A member's own view of the state may lag behind the cluster's. Accepting on that view is safe, because whatever the
 * caller asks for is checked again in apply or after a read barrier; refusing on it is not, because the record that
 * would allow it may be committed already.
 */

import type { CoordinationError, StateReader } from "../state/index.ts";

export interface ReplicatedState {
  /** The rows that are committed and applied on this member. */
  readonly state: StateReader;
  /**
   * Calls `done` once `state` shows everything that was committed anywhere before this call, or with the reason why
   * that could not be had by `deadlineMs` (on the monotonic clock).
   */
  readBarrier(deadlineMs: number, done: (error: CoordinationError | null) => void): void;
}

/** The read barrier as a promise; rejects with the CoordinationError that ended it (NO_LEADER, DEADLINE, …). */
export function readBarrier(replicated: ReplicatedState, deadlineMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    replicated.readBarrier(deadlineMs, (error) => (error === null ? resolve() : reject(error)));
  });
}
