/** What a member needs from its process, and the states and ends that it reports. */

import type { PeerLog, PeerTransportOptions } from "../../peers/index.ts";
import type { DataDirectoryOptions, FileSystemSpace, FoundingRecord } from "../../storage/index.ts";
import type { Tracer } from "../../tracing/index.ts";
import type { Clock, ReplicaLimits, ReplicaOptions, Scheduler } from "../context/index.ts";
import type { FoundingBackup } from "./founding-backup.ts";

/** State of a member, for operators; the names are those of the wire contract. */
export type MemberState =
  | "EMPTY"
  | "JOINING"
  | "RUNNING"
  | "MEMBER_DATA_LOST"
  | "MEMBER_REMOVED"
  | "MEMBER_DAMAGED"
  | "WRONG_CLUSTER"
  | "MEMBER_REFUSED";

/** Why a member has ended although it was not stopped. */
export type MemberEnd = "removed" | "refused" | "too-old";

/** How a member finds and trusts other members. */
export interface MemberPeering {
  /** Peer endpoints of members that may know the cluster. */
  readonly seeds: readonly string[];
  readonly joinTokens: PeerTransportOptions["joinTokens"];
  readonly tls: PeerTransportOptions["tls"];
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** An IP address at which others reach this member while DNS does not resolve its name everywhere; null = none. */
  readonly dialHint: string | null;
}

export interface MemberOptions extends DataDirectoryOptions {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly limits: ReplicaLimits;
  /** Version of the program. */
  readonly version: string;
  /** Null for a member that has no connections to others and stays alone. */
  readonly peering: MemberPeering | null;
  /** The record about the cluster that is kept outside of its data; null if there never is one. */
  readonly record: FoundingRecord | null;
  /** The backup from which this member founds its cluster, if it founds one; without it the cluster is empty. */
  readonly foundingBackup?: FoundingBackup | null | undefined;
  readonly log: PeerLog;
  /** Keeps traces of requests; without it, none are kept. */
  readonly tracer?: Pick<Tracer, "timeline" | "onKeptTrace"> | null;
  /** The space on the file system of a directory; rejects when it cannot be measured. */
  readonly measureDisk: (directory: string) => Promise<FileSystemSpace>;
  /** Whether the member keeps a reserve on the disk for the time when it is full. */
  readonly hasReserve: boolean;
  readonly onRole: ReplicaOptions["onRole"];
  /**
   * Called when the member was removed, its data must not be used any more, or no other member works with this binary.
   */
  readonly onEnd: (end: MemberEnd, reason: string) => void;
  /** Called when a write to the disk does not return. Only the end of the process helps. */
  readonly onDiskStuck: () => void;
  /** Answers questions of other members about this one; absent = it knows none. */
  readonly onMemberCall?: ReplicaOptions["onMemberCall"];
  /** What is wrong with the process around the member, for people. */
  readonly processAlarms?: () => readonly string[];
}
