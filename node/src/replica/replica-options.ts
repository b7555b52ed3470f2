/** What a driver is given when it starts, and what it says of itself. */

import type { VersionRange } from "../peers/index.ts";
import type { CoreLimits, Role } from "../raft/index.ts";
import type { StateLimits } from "../state/index.ts";
import type { LogStore, MemberStateStore } from "../storage/index.ts";
import type { ApplyLimits } from "./apply-loop.ts";
import type { Clock, Scheduler } from "./clock.ts";
import type { CompactionLimits } from "./compaction.ts";
import type { MaintenanceLimits } from "./maintenance.ts";
import type { SnapshotLimits } from "./outgoing-snapshots.ts";
import type { Transport } from "./transport.ts";

export interface ReplicaLimits extends ApplyLimits {
  readonly core: CoreLimits;
  readonly state: StateLimits;
  readonly compaction: CompactionLimits;
  readonly maintenance: MaintenanceLimits;
  readonly snapshots: SnapshotLimits;
  /** Calls that wait at this member, held ones included, but for those that may wait for a lock. */
  readonly waitersMax: number;
  /** Calls that may wait for a lock: they last long, and must not keep others out. */
  readonly queuedWaitsMax: number;
  /** Commands, and bytes of them, handed to the core in one turn. */
  readonly proposalsPerTurn: number;
  readonly proposalBytesPerTurn: number;
}

export interface ReplicaOptions {
  readonly memberId: number;
  /** UUID in text form. */
  readonly clusterId: string;
  /** The newest cluster version that this release can run. */
  readonly clusterVersionMax: number;
  /** Number of this start of the data directory. */
  readonly boot: number;
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly writeSeq: number;
  /** Acknowledged data was lost: this member follows without a vote until it has it again. */
  readonly damaged: boolean;
  readonly bounds: {
    readonly first: number;
    readonly prevTerm: number;
    readonly last: number;
    readonly lastTerm: number;
  };
  readonly log: LogStore;
  readonly state: MemberStateStore;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly limits: ReplicaLimits;
  /** Called in a turn of its own when role, term or leader changed. */
  readonly onRole: (role: Role, term: number, leaderId: number) => void;
  /** The members, or what is recorded of them, have changed or may have, and are durable as they are in `state`. */
  readonly onMembers: () => void;
  /** The data of this member lacks what it has acknowledged and does not know of it: it must not be used any more. */
  readonly onLoss: (reason: string) => void;
  /** The state of this member is not that of the cluster. This driver has stopped; its data must not be used any more. */
  readonly onDiverged: (reason: string) => void;
  /** What was lost is back, and the directory says so. */
  readonly onHealed: () => void;
  /** The disks of most voters are full: what this member keeps in reserve is to be given back. */
  readonly onDiskCritical: () => void;
  /** A log write does not end: the process must. */
  readonly onDiskStuck: () => void;
}

export interface ReplicaStatus {
  readonly memberId: number;
  readonly role: Role;
  readonly isLearner: boolean;
  readonly term: number;
  /** 0 if unknown. */
  readonly leaderId: number;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly firstIndex: number;
  readonly lastIndex: number;
  /** Term of the entry at that index. */
  readonly lastTerm: number;
  readonly revision: number;
  /** Running digest of all applied changes. */
  readonly digest: number;
  /** Whether this member can answer linearizable reads now. */
  readonly isServing: boolean;
  /** Milliseconds that what is applied here is behind what the leader has told to be committed. */
  readonly lagMs: number;
  /** Milliseconds that the event loop was late at the last tick. */
  readonly loopLagMs: number;
  /** What is wrong with this member; empty if nothing is. */
  readonly alarms: readonly string[];
}

/** The start of a peer with which a connection is verified. */
export interface ConnectedStart {
  readonly boot: number;
  /** An earlier start of it was connected before. */
  readonly restarted: boolean;
  readonly damaged: boolean;
  /** The cluster versions that it can run; null where the handshake does not say, on connections that were dialed. */
  readonly versions: VersionRange | null;
}
