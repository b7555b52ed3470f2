/**
 * How the first member of a cluster gets its data: as the founder of an empty cluster, or from a backup. This folder
 * does not know the format of backups.
 */

import { type Founding, readCluster, readFormerClusters, type StateReader } from "../../state/index.ts";
import type { DataDirectory, MemberData, Restoration } from "../../storage/index.ts";

/** Id of the first member: the index of the founding entry, which is the first of the log. */
export const FOUNDER_ID = 1;

/** A backup from which a cluster is founded. */
export interface FoundingBackup {
  /**
   * Fills the restoration for this founding, and completes it. Returns a description of the backup, for people. Raises
   * a CoordinationError if the backup cannot be used, a StoreError if the disk of this member fails, and what
   * `onProgress` raises.
   *
   * @param onProgress is called often with the progress, for people
   */
  restore(restoration: Restoration, founding: Founding, onProgress: (progress: string) => void): Promise<string>;
}

/** The data of the first member, and the description that `restore` returned; empty without a backup. */
export interface Founded {
  readonly data: MemberData;
  readonly from: string;
}

/** Creates the data of the first member in the empty directory. Raises what `restore` raises, and a StoreError. */
export async function foundFrom(
  directory: DataDirectory & { readonly phase: "empty" },
  founding: Founding,
  from: {
    /** Null = the new cluster is empty. */
    readonly backup: FoundingBackup | null;
    readonly onProgress: (progress: string) => void;
    /** Milliseconds since 1970. */
    readonly wallMs: number;
  },
): Promise<Founded> {
  const { backup, onProgress, wallMs } = from;
  if (backup === null) {
    return { data: await directory.found(founding, { tickMs: 0, wallMs }), from: "" };
  }
  let restored = "";
  const data = await directory.restore(async (restoration) => {
    restored = await backup.restore(restoration, founding, onProgress);
  });
  return { data, from: restored };
}

/** Whether the member of this id founded the cluster of this state, either empty or as the successor of another one. */
export function isFounder(state: StateReader, memberId: number): boolean {
  const former = readFormerClusters(state).at(-1);
  return former !== undefined && former.successorId === readCluster(state)?.clusterId
    ? memberId === former.lastIndex + 1
    : memberId === FOUNDER_ID;
}
