/** What a member needs of its process, and how it tells what it is. */

import type { PeerLog, PeerTransportOptions } from "../peers/index.ts";
import type { DataDirectoryOptions, DiskRoom, FoundingRecord } from "../storage/index.ts";
import type { Clock, Scheduler } from "./clock.ts";
import type { FoundingBackup } from "./founding-backup.ts";
import type { ReplicaLimits, ReplicaOptions } from "./replica-options.ts";

/** What a member is, for operators; the names of the wire contract. */
export type MemberState =
  | "EMPTY"
  | "JOINING"
  | "RUNNING"
  | "MEMBER_DATA_LOST"
  | "MEMBER_REMOVED"
  | "MEMBER_DAMAGED"
  | "WRONG_CLUSTER"
  | "MEMBER_REFUSED";

/** Why a member serves no more although it was not stopped. */
export type MemberEnd = "removed" | "refused" | "too-old";

/** How a member meets others. */
export interface MemberPeering {
  /** Peer endpoints of members that may know the cluster. */
  readonly seeds: readonly string[];
  readonly joinTokens: PeerTransportOptions["joinTokens"];
  readonly tls: PeerTransportOptions["tls"];
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** An IP address at which others reach this member while its name is not known everywhere; null = none. */
  readonly dialHint: string | null;
}

export interface MemberOptions extends DataDirectoryOptions {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly limits: ReplicaLimits;
  /** Version of the program. */
  readonly version: string;
  /** Null for a member that has no connections to others, and stays alone. */
  readonly peering: MemberPeering | null;
  /** What was written down about the cluster outside of its data; null if nothing ever is. */
  readonly record: FoundingRecord | null;
  /** From what this member founds its cluster, if it does; an empty cluster without it. */
  readonly foundingBackup?: FoundingBackup | null | undefined;
  readonly log: PeerLog;
  /** The room on the file system of a directory; rejects when it cannot be told. */
  readonly measureDisk: (directory: string) => Promise<DiskRoom>;
  /** Whether room on the disk is kept back for when it is full. */
  readonly hasReserve: boolean;
  readonly onRole: ReplicaOptions["onRole"];
  /** The member was removed, its data must not be used any more, or no other member works with this binary. */
  readonly onEnd: (end: MemberEnd, reason: string) => void;
  /** A write to the disk does not come back: nothing but the end of the process helps. */
  readonly onDiskStuck: () => void;
  /** What is wrong with the process around the member, for people. */
  readonly processAlarms?: () => readonly string[];
}
