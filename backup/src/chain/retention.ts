/**
 * Which objects are kept, by the number of snapshots and by age; first as a plan, then carried out.
 *
 * What is kept is always a whole end of the archive: the oldest snapshot that a rule wants, and everything behind it. A snapshot
 * that is older than the age is still wanted if it is the newest of those: from it, the oldest moment within the age can be
 * restored. The newest snapshot that can be used is never deleted.
 *
 * Objects are deleted from the newest of those before that snapshot to the oldest. So after each step, and after a crash at any
 * step, what is left of an old chain begins with its snapshot and can be restored as far as it reaches. To go on, plan again.
 */

import { BackupError } from "../format/index.ts";
import type { BackupStore } from "../store/index.ts";
import type { Catalog, StoredSegment, StoredSnapshot } from "./catalog.ts";

export interface RetentionPolicy {
  /** How many snapshots are kept at least; undefined or 1: the newest one. */
  readonly keepSnapshots?: number | undefined;
  /** Each moment that is younger than this can be restored; in milliseconds. */
  readonly keepMs?: number | undefined;
  /** Names of objects that are known to be damaged. A damaged snapshot does not count. */
  readonly damaged?: ReadonlySet<string> | undefined;
}

export interface RetentionPlan {
  /** What is to be deleted, in this order. */
  readonly deletions: readonly (StoredSnapshot | StoredSegment)[];
  /** The oldest snapshot that stays; undefined if none can be used, and so nothing is deleted. */
  readonly oldestKept: StoredSnapshot | undefined;
  /** Bytes that are freed. */
  readonly bytes: number;
}

/** @param nowMs the wall clock, in milliseconds since 1970. Raises a BackupError (bad-argument) if the policy is not valid. */
export function planRetention(catalog: Catalog, policy: RetentionPolicy, nowMs: number): RetentionPlan {
  requirePolicy(policy);
  const usable = catalog.snapshots.filter(({ name }) => policy.damaged?.has(name) !== true);
  const oldestKept = oldestWanted(usable, policy, nowMs);
  if (oldestKept === undefined) {
    return { deletions: [], oldestKept, bytes: 0 };
  }
  const deletions = newestFirst([
    ...catalog.snapshots.filter((snapshot) => snapshot.index < oldestKept.index),
    // A segment that holds the entry behind the snapshot is needed.
    ...catalog.segments.filter((segment) => segment.lastIndex <= oldestKept.index),
  ]);
  return { deletions, oldestKept, bytes: deletions.reduce((sum, { size }) => sum + size, 0) };
}

export interface DeletionOptions {
  /** Whether the last snapshot may be deleted, and the chain that reaches furthest. */
  readonly allowLast?: boolean | undefined;
}

/**
 * Plans the deletion of one snapshot, and of the segments that no other snapshot leads to. Raises a BackupError: no-backup if
 * there is no such snapshot; last-chain if no other one is left, or if no other one reaches the last entry of its segments.
 * A cluster that archives into the store appends to that end, and nothing of it could be restored.
 */
export function planDeletion(
  catalog: Catalog,
  name: string,
  { allowLast = false }: DeletionOptions = {},
): RetentionPlan {
  const chain = catalog.chains.find(({ snapshot }) => snapshot.name === name);
  if (chain === undefined) {
    throw new BackupError("no-backup", "there is no snapshot of this name. List what is there", { object: name });
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
 * Deletes what is planned, in its order, and ends at the first failure: what has been done until then is valid. Raises a
 * StoreFailure.
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
  // Where all are younger than the age, all are wanted.
  return usable[Math.max(0, Math.min(byCount, byAge))];
}

/** Of two that end at one index, the snapshot is the last one to go: segments lead on from it. */
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
    throw new BackupError("bad-argument", "keepMs must be an integer that is not negative");
  }
}
