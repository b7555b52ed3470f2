/** Why a member refuses a call at once, or after it has waited too long. Such a call was not executed. */

import type { RaftCore } from "../../raft/index.ts";
import { CoordinationError } from "../../state/index.ts";
import type { ReplicaLimits } from "./replica-limits.ts";

/** The member stops. */
export function shuttingDown(): CoordinationError {
  return new CoordinationError("SHUTTING_DOWN", "this member is shutting down");
}

/** The refusal if too many calls wait, not counting waits for locks; null if there is capacity. */
export function overloadOfCalls(calls: number, limits: ReplicaLimits): CoordinationError | null {
  return calls >= limits.waitersMax ? tooManyCalls(limits) : null;
}

/** The same for waits for locks. */
export function overloadOfWaits(waits: number, limits: ReplicaLimits): CoordinationError | null {
  return waits >= limits.queuedWaitsMax ? tooManyWaits(limits) : null;
}

/** Too many waiting calls for the memory of a member. */
function tooManyCalls({ waitersMax }: ReplicaLimits): CoordinationError {
  return new CoordinationError("OVERLOADED", `${waitersMax} calls wait at this member already; send fewer at once`);
}

/** Too many calls that wait for locks. */
function tooManyWaits({ queuedWaitsMax }: ReplicaLimits): CoordinationError {
  const message = `${queuedWaitsMax} calls wait for locks at this member already; wait less, or use another member`;
  return new CoordinationError("OVERLOADED", message);
}

/** Why calls have to wait at the moment: the refusal for calls that have waited too long. */
export function reasonToWait(core: RaftCore, limits: ReplicaLimits): CoordinationError {
  const hasQuorum = core.contactAgeTicks <= limits.core.noQuorumTicks;
  if (core.role === "leader" && hasQuorum && !core.isTransferring) {
    return new CoordinationError("OVERLOADED", "this member cannot keep up with the writes; try again later");
  }
  return new CoordinationError("NO_LEADER", "the cluster has no leader at the moment");
}
