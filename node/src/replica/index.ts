export type { ApplyObserver } from "./apply/index.ts";
export {
  type Clock,
  type IncomingSnapshot,
  type OutgoingSnapshot,
  type ProposalDone,
  RefusedGuards,
  type ReplicaLimits,
  type ReplicaOptions,
  type ReplicaStatus,
  requestIdentityOf,
  type Scheduler,
  seededRandom,
  systemClock,
  systemScheduler,
  type Transport,
} from "./context/index.ts";
export { MemberCalls, type Readiness, Replica } from "./driver/index.ts";
export type { MemberHealth, MembershipView, MembershipViewDone, TransferDone } from "./leader/index.ts";
export { DEFAULT_REPLICA_LIMITS } from "./limits.ts";
export {
  claimedMembers,
  type FoundingBackup,
  Member,
  type MemberEnd,
  type MemberList,
  type MemberOptions,
  type MemberPeering,
  type MemberState,
  PeerDirectory,
} from "./member/index.ts";
export { RAFT_METRICS, STATE_METRICS, STORAGE_METRICS } from "./metrics/index.ts";
export type { ReadDone } from "./proposals/index.ts";
export { SNAPSHOT_FORMAT, type StateExport, StateExportEnded } from "./snapshots/index.ts";
