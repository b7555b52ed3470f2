/**
 * A history of a cluster with its state at each index, and its archive: snapshots, and segments of random lengths. Some
 * segments do not state where they end.
 */

import { type BackupStore, type KeyRing, newObjectId, putSegment, putSnapshot, type Row } from "@quoin/backup";
import { entryTerm, entryWallMs } from "../../src/raft/index.ts";
import type { RebuildPoint } from "../../src/rebuild/index.ts";
import { CLUSTER_VERSION, type Progress } from "../../src/state/index.ts";

/** The progress of the state after an entry. */
export type HistoryProgress = Pick<Progress, "appliedIndex" | "revision" | "digest" | "tickMs" | "wallMs">;

export interface History {
  readonly clusterId: string;
  /** Entries; the first one has index 1. */
  readonly rows: readonly Uint8Array[];
  /** By index; index 0 is undefined. */
  readonly progress: readonly (HistoryProgress | undefined)[];
  /** By index of some entries, all rows of the state after them. */
  readonly snapshots: ReadonlyMap<number, readonly Row[]>;
}

/** Numbers that follow from a seed. */
export function numbersOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Archives the whole history from its first snapshot on. */
export async function archiveHistory(
  store: BackupStore,
  history: History,
  options: { readonly below: (below: number) => number; readonly segmentMax: number; readonly keyRing: KeyRing },
): Promise<void> {
  const { rows, progress, snapshots, clusterId } = history;
  const { below, segmentMax, keyRing } = options;
  const origin = { clusterId, clusterName: "history", quoinVersion: "0.1.0", clusterVersion: CLUSTER_VERSION };
  const at = (index: number) => progress[index] as HistoryProgress;
  let previous: { readonly id: string; readonly hash: Uint8Array } | undefined;
  for (const [index, state] of [...snapshots].sort(([one], [other]) => one - other)) {
    const { revision, tickMs, wallMs, digest: stateDigest } = at(index);
    const term = entryTerm(rows[index - 1] as Uint8Array);
    const header = { ...origin, id: newObjectId(), index, term, revision, tickMs, wallMs, stateDigest };
    const { hash } = await putSnapshot(store, header, [state], keyRing);
    previous ??= { id: header.id, hash };
  }
  for (let next = Math.min(...snapshots.keys()) + 1; next <= rows.length && previous !== undefined; ) {
    const lastIndex = Math.min(rows.length, next + below(segmentMax));
    const entries = rows
      .slice(next - 1, lastIndex)
      .map((bytes, position) => ({ index: next + position, term: entryTerm(bytes), bytes }));
    const { revision, wallMs, digest } = at(lastIndex);
    const isKnown = below(4) > 0;
    const header = {
      ...origin,
      id: newObjectId(),
      firstIndex: next,
      lastIndex,
      firstTerm: entries[0]?.term ?? 0,
      lastTerm: entries.at(-1)?.term ?? 0,
      ...(isKnown ? { lastRevision: revision, lastWallMs: wallMs, stateDigest: digest } : {}),
      previousId: previous.id,
      previousHash: previous.hash,
    };
    const { hash } = await putSegment(store, header, [entries], keyRing);
    previous = { id: header.id, hash };
    next = lastIndex + 1;
  }
}

/** The last index within the point, from a snapshot at `from` on. */
export function indexAt({ progress, rows }: History, from: number, point: RebuildPoint): number {
  let index = from;
  while (index < rows.length) {
    const isOver =
      (point.kind === "index" && index >= point.index) ||
      (point.kind === "revision" && (progress[index]?.revision ?? 0) >= point.revision) ||
      (point.kind === "time" && entryWallMs(rows[index] as Uint8Array) > point.wallMs);
    if (isOver) {
      break;
    }
    index++;
  }
  return index;
}
