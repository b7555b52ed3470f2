/** Why a member does not take a call, or has held it for too long. None of it was executed. */

import type { RaftCore } from "../raft/index.ts";
import { CoordinationError } from "../state/index.ts";
import type { ReplicaLimits } from "./replica-options.ts";

/** The member stops. */
export function shuttingDown(): CoordinationError {
  return new CoordinationError("SHUTTING_DOWN", "this member is shutting down");
}

/** Why so many calls that wait, those for locks aside, leave no room for another one; null if there is room. */
export function overloadOfCalls(calls: number, limits: ReplicaLimits): CoordinationError | null {
  return calls >= limits.waitersMax ? tooManyCalls(limits) : null;
}

/** The same for calls that wait for locks. */
export function overloadOfWaits(waits: number, limits: ReplicaLimits): CoordinationError | null {
  return waits >= limits.queuedWaitsMax ? tooManyWaits(limits) : null;
}

/** More calls wait than a member may remember. */
function tooManyCalls({ waitersMax }: ReplicaLimits): CoordinationError {
  return new CoordinationError("OVERLOADED", `${waitersMax} calls wait at this member already; send fewer at once`);
}

/** More calls wait for locks than a member may hold open. */
function tooManyWaits({ queuedWaitsMax }: ReplicaLimits): CoordinationError {
  const message = `${queuedWaitsMax} calls wait for locks at this member already; wait less, or at another member`;
  return new CoordinationError("OVERLOADED", message);
}

/** Why calls are held back at the moment, as the refusal of those that have waited long enough. */
export function reasonToHold(core: RaftCore, limits: ReplicaLimits): CoordinationError {
  const hasQuorum = core.contactAgeTicks <= limits.core.noQuorumTicks;
  if (core.role === "leader" && hasQuorum && !core.isTransferring) {
    return new CoordinationError("OVERLOADED", "this member cannot keep up with the writes; try again later");
  }
  return new CoordinationError("NO_LEADER", "the cluster has no leader at the moment");
}
