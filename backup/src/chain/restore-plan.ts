/** Plans a restore to a point from a catalog: which objects to read, or which points are possible instead. */

import { BackupError } from "../format/index.ts";
import type { Catalog } from "./catalog.ts";
import { type Chain, type ChainEnd, endOf, furthestChain } from "./chain.ts";
import type { StoredSegment, StoredSnapshot } from "./object-name.ts";

/** To the end of the archive, to a revision, or to a time. */
export type RestorePoint =
  | { readonly kind: "latest" }
  /** Up to and including the entry that made this revision. */
  | { readonly kind: "revision"; readonly revision: number }
  /** Up to and including the last entry with this wall clock or an earlier one, in milliseconds since 1970. */
  | { readonly kind: "time"; readonly wallMs: number };

export interface RestorePlan {
  readonly clusterId: string;
  readonly point: RestorePoint;
  readonly snapshot: StoredSnapshot;
  /** In order. The last ones may contain entries beyond the point: the code that applies them stops there. */
  readonly segments: readonly StoredSegment[];
  /** The end of the planned objects. */
  readonly end: ChainEnd;
  /** The end of the archive from any snapshot. */
  readonly archiveEnd: ChainEnd;
}

/**
 * Plans from the newest snapshot that reaches the point, or from the snapshot with this id. Raises a BackupError:
 *
 * - no-backup if there is no snapshot, or not the named one;
 * - no-such-point, with the possible points and the missing objects;
 * - gap if the point is the end of the archive, and there are segments after a missing one.
 */
export function planRestore(catalog: Catalog, point: RestorePoint, snapshotId?: string): RestorePlan {
  const { clusterId } = catalog;
  const archiveEnd = furthestChain(catalog.chains)?.end;
  if (archiveEnd === undefined) {
    throw new BackupError(
      "no-backup",
      `there is no snapshot of cluster ${clusterId}, and so nothing to restore. ${missingOf(catalog)}`,
    );
  }
  const chains = snapshotId === undefined ? catalog.chains : [chainOf(catalog, snapshotId)];
  if (point.kind === "latest") {
    requireReachable(catalog, archiveEnd);
  }
  const chain = chains.filter((candidate) => reaches(candidate, point, archiveEnd)).at(-1);
  if (chain === undefined) {
    throw new BackupError(
      "no-such-point",
      `cluster ${clusterId} cannot be restored to ${describePoint(point)}. It can be restored to: ${describeChains(chains)}. ${missingOf(catalog)}`,
    );
  }
  const segments = chain.segments.slice(0, neededSegments(chain, point));
  return { clusterId, point, snapshot: chain.snapshot, segments, end: endOf(chain.snapshot, segments), archiveEnd };
}

function chainOf({ chains, clusterId }: Catalog, snapshotId: string): Chain {
  const chain = chains.find(({ snapshot }) => snapshot.id === snapshotId);
  if (chain === undefined) {
    const ids = chains.slice(-CHAINS_SHOWN).map(({ snapshot }) => snapshot.id);
    throw new BackupError(
      "no-backup",
      `there is no snapshot ${snapshotId} of cluster ${clusterId}. The newest snapshots are ${ids.join(", ")}`,
    );
  }
  return chain;
}

/** Segments after a missing object belong to the archive, so the reachable end is not its end. */
function requireReachable(catalog: Catalog, archiveEnd: ChainEnd): void {
  const lost = catalog.segments.filter(({ lastIndex }) => lastIndex > archiveEnd.index);
  const [first] = lost;
  if (first !== undefined) {
    throw new BackupError(
      "gap",
      `entries ${archiveEnd.index + 1} to ${first.firstIndex - 1} are missing, so ${lost.length} segments after them cannot be ` +
        `used. Bring back the missing objects, or restore to ${describeEnd(archiveEnd)} by naming that revision. ${missingOf(catalog)}`,
      { object: first.name },
    );
  }
}

function reaches({ snapshot, end }: Chain, point: RestorePoint, archiveEnd: ChainEnd): boolean {
  switch (point.kind) {
    case "latest":
      return end.index === archiveEnd.index;
    case "revision":
      return snapshot.revision <= point.revision && isAtLeast(end.revision, point.revision);
    case "time":
      return snapshot.wallMs <= point.wallMs && isAtLeast(end.wallMs, point.wallMs);
  }
}

/** An unknown bound may be beyond the point: the entries will show it. */
function isAtLeast(bound: number | undefined, wanted: number): boolean {
  return bound === undefined || bound >= wanted;
}

/** How many of a chain's segments are needed to reach the point. */
function neededSegments({ snapshot, segments }: Chain, point: RestorePoint): number {
  if (point.kind === "latest") {
    return segments.length;
  }
  // An entry with a revision reaches it; a later entry shows that a time has passed.
  const isReached =
    point.kind === "revision"
      ? (revision: number | undefined) => revision !== undefined && revision >= point.revision
      : (_revision: number | undefined, wallMs?: number) => wallMs !== undefined && wallMs > point.wallMs;
  if (isReached(snapshot.revision, snapshot.wallMs)) {
    return 0;
  }
  const position = segments.findIndex(({ lastRevision, lastWallMs }) => isReached(lastRevision, lastWallMs));
  return position === -1 ? segments.length : position + 1;
}

function describePoint(point: RestorePoint): string {
  switch (point.kind) {
    case "latest":
      return "the end of its archive";
    case "revision":
      return `revision ${point.revision}`;
    case "time":
      return new Date(point.wallMs).toISOString();
  }
}

const CHAINS_SHOWN = 5;

function describeChains(chains: readonly Chain[]): string {
  const shown = mergeRanges(chains)
    .slice(-CHAINS_SHOWN)
    .map(({ snapshot, end }) => `${describeEnd(snapshot)} to ${describeEnd(end)}`);
  return shown.join("; ");
}

/** Leaves out chains that are part of another one. */
function mergeRanges(chains: readonly Chain[]): Chain[] {
  const ranges: Chain[] = [];
  for (const chain of chains) {
    if (chain.end.index > (ranges.at(-1)?.end.index ?? -1)) {
      ranges.push(chain);
    }
  }
  return ranges;
}

function describeEnd({ index, revision, wallMs }: ChainEnd): string {
  const time = wallMs === undefined ? "" : ` at ${new Date(wallMs).toISOString()}`;
  return `revision ${revision ?? "unknown"} (index ${index})${time}`;
}

function missingOf({ problems, chains }: Catalog): string {
  const missing = problems.filter(({ kind }) => kind === "missing-previous" || kind === "gap").slice(0, CHAINS_SHOWN);
  if (missing.length > 0) {
    return `Missing: ${missing.map(({ message }) => message).join("; ")}`;
  }
  return mergeRanges(chains).length > 1
    ? "The objects between these ranges are missing"
    : "No object is missing in between";
}
