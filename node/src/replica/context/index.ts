export type { Clock, Scheduler } from "./clock.ts";
export { ClusterTick } from "./cluster-tick.ts";
export { CommitTimes } from "./commit-times.ts";
export { Compaction, DEFAULT_COMPACTION_LIMITS } from "./compaction.ts";
export { type DiskSpaceLevel, Eligibility } from "./eligibility.ts";
export { DEFAULT_MAINTENANCE_LIMITS, Maintenance, type MaintenanceLimits } from "./maintenance.ts";
export {
  clusterProposalOf,
  membershipProposalOf,
  type Proposal,
  type ProposalDone,
  proposalOf,
  requestIdentityOf,
} from "./proposal.ts";
export { seededRandom } from "./random.ts";
export { ReadAllowance } from "./read-allowance.ts";
export { overloadOfCalls, overloadOfWaits, reasonToWait, shuttingDown } from "./refusals.ts";
export { RefusedGuards } from "./refused-guards.ts";
export { type ReplicaContext, replicaContextOf } from "./replica-context.ts";
export type { ApplyLimits, ReplicaLimits, SnapshotLimits } from "./replica-limits.ts";
export type { AnswerMember, ConnectedStart, ReplicaOptions, ReplicaStatus } from "./replica-options.ts";
export { CopyStatistics, ReplicaStatistics } from "./replica-statistics.ts";
export { systemClock, systemScheduler } from "./system-clock.ts";
export type { IncomingSnapshot, OutgoingSnapshot, Transport } from "./transport.ts";
