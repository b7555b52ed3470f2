export { AppliedLog, type Asking, applyRows, dumpOf, FOUNDING, machineOver, OWNER, requestOf } from "./applied-log.ts";
export { AppliedReplica } from "./applied-replica.ts";
export { FoundedCluster, type FoundingSecrets, foundingSecrets } from "./founded-cluster.ts";
export { MemoryStateStore } from "./memory-state-store.ts";
export { RawConnection } from "./raw-connection.ts";
export { refused } from "./refused.ts";
export { soleVoter } from "./sole-voter.ts";
export { StoredLog } from "./stored-log.ts";
