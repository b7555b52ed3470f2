/** The options of a driver, and its status. */

import type { VersionRange } from "../../peers/index.ts";
import type { Role } from "../../raft/index.ts";
import type { LogStore, MemberStateStore } from "../../storage/index.ts";
import type { Timeline } from "../../tracing/index.ts";
import type { Clock, Scheduler } from "./clock.ts";
import type { ReplicaLimits } from "./replica-limits.ts";
import type { Transport } from "./transport.ts";

/** Answers a question of another member about this one, at once; null = this release does not know the question. */
export type AnswerMember = (question: Uint8Array) => Uint8Array | null;

export interface ReplicaOptions {
  readonly memberId: number;
  /** UUID in text form. */
  readonly clusterId: string;
  /** The newest cluster version that this release can run. */
  readonly clusterVersionMax: number;
  /** Boot number: counts the starts of this data directory. */
  readonly boot: number;
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly writeSeq: number;
  /** Acknowledged data was lost: this member follows without a vote until it has the data again. */
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
  /** Where the driver notes its steps for traces; without it, it notes none. */
  readonly timeline?: Timeline | null;
  /** Called in a turn of its own when role, term or leader changed. */
  readonly onRole: (role: Role, term: number, leaderId: number) => void;
  /** Called when the record of the members may have changed; the record in `state` is durable. */
  readonly onMembers: () => void;
  /**
   * Called when this member's log lacks entries that it acknowledged, unnoticed. Its data must not be used any more.
   */
  readonly onLoss: (reason: string) => void;
  /** Called when this member's state differs from the cluster's. The driver has stopped; the data must not be used. */
  readonly onDiverged: (reason: string) => void;
  /** Called when the lost data is back and the directory records that. */
  readonly onDataRecovered: () => void;
  /** Called when the disks of most voters are full: this member must release its reserve. */
  readonly onDiskCritical: () => void;
  /** Called when a log write does not return: the process must end. */
  readonly onDiskStuck: () => void;
  /** Answers questions of other members about this one; absent = it knows none. */
  readonly onMemberCall?: AnswerMember | undefined;
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
  /** Rolling digest of all applied changes. */
  readonly digest: number;
  /** Whether this member can answer linearizable reads now. */
  readonly isServing: boolean;
  /** Age of the oldest commit, reported by the leader, that is not applied here, in milliseconds. */
  readonly lagMs: number;
  /** Milliseconds that the event loop was late at the last tick. */
  readonly loopLagMs: number;
  /** Current problems of this member; empty if there are none. */
  readonly alarms: readonly string[];
}

/** The process of a peer with which a connection is verified. */
export interface ConnectedStart {
  readonly boot: number;
  /** Whether an earlier process of the peer was connected before. */
  readonly restarted: boolean;
  readonly damaged: boolean;
  /**
   * The cluster versions that it can run; null on connections that this member dialed: their handshake does not say.
   */
  readonly versions: VersionRange | null;
}
