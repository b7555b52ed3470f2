/**
 * How the first member of a cluster comes to its data: as the founder of an empty cluster, or with the state of a backup. How
 * backups look, this room does not know.
 */

import { type Founding, readCluster, readFormerClusters, type StateReader } from "../state/index.ts";
import type { DataDirectory, MemberData, Restoration } from "../storage/index.ts";

/** The founding entry is the first of the log, and its index the id of the first member. */
export const FOUNDER_ID = 1;

/** A backup from which a cluster is founded. */
export interface FoundingBackup {
  /**
   * Fills the restoration for this founding, and completes it. Returns what it was, for people. Raises a CoordinationError if the backup cannot be used, a
   * StoreError if the disk of this member cannot, and what `told` raises.
   *
   * @param told is called often, with how far it is, for people
   */
  restore(restoration: Restoration, founding: Founding, told: (progress: string) => void): Promise<string>;
}

/** The data of the first member, and what `restore` said of the backup; empty without one. */
export interface Founded {
  readonly data: MemberData;
  readonly from: string;
}

/** Makes the empty directory that of the first member. Raises what `restore` raises, and a StoreError. */
export async function foundFrom(
  directory: DataDirectory & { readonly phase: "empty" },
  founding: Founding,
  from: {
    /** Null = the cluster begins empty. */
    readonly backup: FoundingBackup | null;
    readonly told: (progress: string) => void;
    /** Milliseconds since 1970. */
    readonly wallMs: number;
  },
): Promise<Founded> {
  const { backup, told, wallMs } = from;
  if (backup === null) {
    return { data: await directory.found(founding, { tickMs: 0, wallMs }), from: "" };
  }
  let restored = "";
  const data = await directory.restore(async (restoration) => {
    restored = await backup.restore(restoration, founding, told);
  });
  return { data, from: restored };
}

/** Whether the cluster of this state began with the member of this id: empty, or as the successor of another cluster. */
export function isFounder(state: StateReader, memberId: number): boolean {
  const former = readFormerClusters(state).at(-1);
  return former !== undefined && former.successorId === readCluster(state)?.clusterId
    ? memberId === former.lastIndex + 1
    : memberId === FOUNDER_ID;
}
