export { RAFT_METRICS } from "./raft-metrics.ts";
export { STATE_METRICS } from "./state-metrics.ts";
export { STORAGE_METRICS } from "./storage-metrics.ts";
