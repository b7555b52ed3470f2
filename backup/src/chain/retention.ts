/**
 * Decides which objects to keep, by the number of snapshots and by age: first as a plan, then by deletion.
 *
 * The kept objects always form a complete end of the archive: the oldest snapshot that a rule requires, and everything
 * after it. Of the snapshots beyond the age, the newest is also required: the oldest moment within the age can only be
 * restored from it. The newest usable snapshot is never deleted.
 *
 * Older objects are deleted from the newest to the oldest. So after each step, and after a crash at any step, the rest
 * of an old chain begins with its snapshot and can be restored as far as it reaches. To continue, plan again.
 */

import { BackupError } from "../format/index.ts";
import type { BackupStore } from "../store/index.ts";
import type { Catalog } from "./catalog.ts";
import type { StoredSegment, StoredSnapshot } from "./object-name.ts";

export interface RetentionPolicy {
  /** The minimum number of snapshots to keep; undefined or 1: the newest one. */
  readonly keepSnapshots?: number | undefined;
  /** Each moment younger than this can be restored; in milliseconds. */
  readonly keepMs?: number | undefined;
  /** Names of objects known to be damaged. A damaged snapshot does not count. */
  readonly damaged?: ReadonlySet<string> | undefined;
}

export interface RetentionPlan {
  /** The objects to delete, in this order. */
  readonly deletions: readonly (StoredSnapshot | StoredSegment)[];
  /** The oldest snapshot that stays; undefined if no snapshot is usable, and so nothing is deleted. */
  readonly oldestKept: StoredSnapshot | undefined;
  /** Bytes that the deletions free. */
  readonly bytes: number;
}

/**
 * @param nowMs the wall clock, in milliseconds since 1970. Raises a BackupError (bad-argument) if the policy is
 * invalid.
 */
export function planRetention(catalog: Catalog, policy: RetentionPolicy, nowMs: number): RetentionPlan {
  requirePolicy(policy);
  const usable = catalog.snapshots.filter(({ name }) => policy.damaged?.has(name) !== true);
  const oldestKept = oldestWanted(usable, policy, nowMs);
  if (oldestKept === undefined) {
    return { deletions: [], oldestKept, bytes: 0 };
  }
  const deletions = newestFirst([
    ...catalog.snapshots.filter((snapshot) => snapshot.index < oldestKept.index),
    // A segment with the entry after the snapshot is needed.
    ...catalog.segments.filter((segment) => segment.lastIndex <= oldestKept.index),
  ]);
  return { deletions, oldestKept, bytes: deletions.reduce((sum, { size }) => sum + size, 0) };
}

export interface DeletionOptions {
  /** Whether the last snapshot, and the chain that reaches furthest, may be deleted. */
  readonly allowLast?: boolean | undefined;
}

/**
 * Plans the deletion of one snapshot, and of the segments that no other snapshot reaches. Raises a BackupError:
 * no-backup if the snapshot does not exist; last-chain if no other snapshot is left, or if no other one reaches the
 * last entry of its segments. In that case a cluster that archives into the store would continue a chain that cannot be
 * restored.
 */
export function planDeletion(
  catalog: Catalog,
  name: string,
  { allowLast = false }: DeletionOptions = {},
): RetentionPlan {
  const chain = catalog.chains.find(({ snapshot }) => snapshot.name === name);
  if (chain === undefined) {
    throw new BackupError("no-backup", "there is no snapshot of this name. List the snapshots", { object: name });
  }
  const others = catalog.chains.filter((other) => other !== chain);
  if (others.length === 0 && !allowLast) {
    throw new BackupError(
      "last-chain",
      "it is the last snapshot, and nothing could be restored without it. Make another one first",
      {
        object: name,
      },
    );
  }
  const reached = Math.max(0, ...others.map(({ end }) => end.index));
  if (chain.segments.length > 0 && reached < chain.end.index && !allowLast) {
    throw new BackupError(
      "last-chain",
      `it is the only snapshot from which entries ${reached + 1} to ${chain.end.index} can be restored. Make another one first`,
      { object: name },
    );
  }
  const needed = new Set(others.flatMap(({ segments }) => segments.map((segment) => segment.name)));
  const deletions = newestFirst([chain.snapshot, ...chain.segments.filter((segment) => !needed.has(segment.name))]);
  return { deletions, oldestKept: others[0]?.snapshot, bytes: deletions.reduce((sum, { size }) => sum + size, 0) };
}

/**
 * Deletes the planned objects in order, and stops at the first failure; the store is valid after each deletion. Raises
 * a StoreFailure.
 *
 * @param onDeleted called after each object
 */
export async function deletePlanned(
  store: BackupStore,
  { deletions }: RetentionPlan,
  onDeleted: (name: string) => void = () => undefined,
): Promise<void> {
  for (const { name } of deletions) {
    await store.delete(name);
    onDeleted(name);
  }
}

/** @param usable in the order of their indexes */
function oldestWanted(
  usable: readonly StoredSnapshot[],
  { keepSnapshots = 1, keepMs }: RetentionPolicy,
  nowMs: number,
): StoredSnapshot | undefined {
  const byCount = Math.max(0, usable.length - keepSnapshots);
  const byAge = keepMs === undefined ? byCount : usable.findLastIndex(({ wallMs }) => wallMs <= nowMs - keepMs);
  // If all are younger than the age, all are required.
  return usable[Math.max(0, Math.min(byCount, byAge))];
}

/** Of two that end at one index, the snapshot goes last: segments continue from it. */
function newestFirst(objects: readonly (StoredSnapshot | StoredSegment)[]): (StoredSnapshot | StoredSegment)[] {
  return objects.toSorted((a, b) => lastIndexOf(b) - lastIndexOf(a) || rankOf(a) - rankOf(b));
}

function lastIndexOf(object: StoredSnapshot | StoredSegment): number {
  return object.kind === "snapshot" ? object.index : object.lastIndex;
}

function rankOf({ kind }: StoredSnapshot | StoredSegment): number {
  return kind === "segment" ? 0 : 1;
}

function requirePolicy({ keepSnapshots, keepMs }: RetentionPolicy): void {
  if (keepSnapshots !== undefined && !(Number.isSafeInteger(keepSnapshots) && keepSnapshots >= 1)) {
    throw new BackupError("bad-argument", "keepSnapshots must be an integer of at least 1");
  }
  if (keepMs !== undefined && !(Number.isSafeInteger(keepMs) && keepMs >= 0)) {
    throw new BackupError("bad-argument", "keepMs must be an integer of at least 0");
  }
}
