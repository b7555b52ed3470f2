/** The limits of a driver and of its parts. */

import type { CoreLimits } from "../../raft/index.ts";
import type { StateLimits } from "../../state/index.ts";
import type { CompactionLimits } from "./compaction.ts";
import type { MaintenanceLimits } from "./maintenance.ts";

export interface ApplyLimits {
  /** Bounds of one apply slice: entries, bytes of rows, milliseconds. */
  readonly sliceEntries: number;
  readonly sliceBytes: number;
  readonly sliceMs: number;
  /** An append in an entry of at least this many bytes takes several turns; each turn takes about `longEntryMs`. */
  readonly longEntryBytes: number;
  readonly longEntryMs: number;
  /** The state is made durable after this many bytes applied, or milliseconds, whichever comes first. */
  readonly syncBytes: number;
  readonly syncMs: number;
}

export interface SnapshotLimits {
  /** Approximate bytes of rows in one chunk. */
  readonly chunkBytes: number;
  /** Concurrent streams, and their bytes per second together, including reads for backups. */
  readonly streamsMax: number;
  readonly bytesPerSecond: number;
  /** Milliseconds that a stream may take. */
  readonly streamMs: number;
}

export interface ReplicaLimits extends ApplyLimits {
  readonly core: CoreLimits;
  readonly state: StateLimits;
  readonly compaction: CompactionLimits;
  readonly maintenance: MaintenanceLimits;
  readonly snapshots: SnapshotLimits;
  /** Calls that may wait at this member, not counting those that may wait for a lock. */
  readonly waitersMax: number;
  /** Calls that may wait for a lock. They have their own limit, because they last long. */
  readonly queuedWaitsMax: number;
  /** Commands that one turn hands out. */
  readonly proposalsPerTurn: number;
  /** Work of commands that are handed out and have no outcome yet (see `Proposal`). A principal alone has half of it. */
  readonly proposalWorkMax: number;
}
