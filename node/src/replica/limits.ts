/** Default limits of a driver, in one place. */

import { DEFAULT_CORE_LIMITS } from "../raft/index.ts";
import { DEFAULT_STATE_LIMITS } from "../state/index.ts";
import { DEFAULT_COMPACTION_LIMITS, DEFAULT_MAINTENANCE_LIMITS, type ReplicaLimits } from "./context/index.ts";
import { DEFAULT_SNAPSHOT_LIMITS } from "./snapshots/index.ts";

export const DEFAULT_REPLICA_LIMITS: ReplicaLimits = {
  core: DEFAULT_CORE_LIMITS,
  state: DEFAULT_STATE_LIMITS,
  compaction: DEFAULT_COMPACTION_LIMITS,
  maintenance: { ...DEFAULT_MAINTENANCE_LIMITS, replayWindowMs: DEFAULT_STATE_LIMITS.replayWindowMs },
  snapshots: DEFAULT_SNAPSHOT_LIMITS,
  waitersMax: 10_000,
  queuedWaitsMax: 10_000,
  proposalsPerTurn: 1_024,
  proposalWorkMax: 2 * 1024 * 1024,
  sliceEntries: 512,
  sliceBytes: 1024 * 1024,
  sliceMs: 4,
  // Each event takes at least one byte: a shorter entry is applied within a few milliseconds.
  longEntryBytes: 64 * 1024,
  longEntryMs: 4,
  syncBytes: 1024 * 1024,
  syncMs: 5_000,
};
