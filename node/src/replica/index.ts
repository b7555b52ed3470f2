export type { Clock, Scheduler } from "./clock.ts";
export { DEFAULT_REPLICA_LIMITS } from "./limits.ts";
export { Member, type MemberOptions, type MemberState } from "./member.ts";
export type { ReadDone } from "./pending-reads.ts";
export { seededRandom } from "./random.ts";
export {
  type DriverStateStore,
  Replica,
  type ReplicaLimits,
  type ReplicaOptions,
  type ReplicaStatus,
} from "./replica.ts";
export { systemClock, systemScheduler } from "./system-clock.ts";
export type { ProposalDone } from "./waiters.ts";
