/** Why a member does not take a call, or has held it for too long. None of it was executed. */

import type { RaftCore } from "../raft/index.ts";
import { CoordinationError } from "../state/index.ts";
import type { ReplicaLimits } from "./replica-options.ts";

/** More calls wait than a member may remember. */
export function tooManyCalls({ waitersMax }: ReplicaLimits): CoordinationError {
  return new CoordinationError("OVERLOADED", `${waitersMax} calls wait at this member already; send fewer at once`);
}

/** More calls wait for locks than a member may hold open. */
export function tooManyWaits({ queuedWaitsMax }: ReplicaLimits): CoordinationError {
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
