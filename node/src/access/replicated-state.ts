/**
 * The part of the replica that access control uses.
 *
 * A member's applied state may lag behind the cluster's. A grant from that state is safe, because apply, or a check
 * after a read barrier, decides again. A refusal from it is not safe, because a record that allows the request may
 * already be committed.
 */

import type { CoordinationError, StateReader } from "../state/index.ts";

export interface ReplicatedState {
  /** The rows that are committed and applied on this member. */
  readonly state: StateReader;
  /**
   * Calls `done` once `state` contains everything that was committed anywhere before this call, or with the error if
   * that fails until `deadlineMs` (on the monotonic clock).
   */
  readBarrier(deadlineMs: number, done: (error: CoordinationError | null) => void): void;
}

/** The read barrier as a promise; rejects with the CoordinationError that ended it (NO_LEADER, DEADLINE, …). */
export function readBarrier(replicated: ReplicatedState, deadlineMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    replicated.readBarrier(deadlineMs, (error) => (error === null ? resolve() : reject(error)));
  });
}
