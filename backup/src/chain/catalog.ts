/**
 * The objects of one cluster in a store, from a listing alone: its snapshots and segments, how they follow each other,
 * and the problems with that. It reads no object, so it proves nothing about their contents; `readChain` does.
 */

import { BackupError, isClusterId } from "../format/index.ts";
import type { BackupStore, StoredObject } from "../store/index.ts";
import { type Chain, chainsOf } from "./chain.ts";
import { hintName, parseObjectName, type StoredSegment, type StoredSnapshot } from "./object-name.ts";

export type CatalogProblemKind =
  /**
   * A segment names a previous object that is missing, and no snapshot joins the segment. The segments after it are
   * usable only from a later snapshot on. Where a snapshot joins the segment, retention has deleted what was before it.
   */
  | "missing-previous"
  /** A segment does not begin where its previous object ends. */
  | "gap"
  /** Several segments begin at the same index: two members archived at the same time. Chains follow the links. */
  | "fork"
  /** The name is not the name of a backup. */
  | "unknown-object";

export interface CatalogProblem {
  readonly kind: CatalogProblemKind;
  /** The object with the problem. */
  readonly name: string;
  /** A sentence. */
  readonly message: string;
}

export interface Catalog {
  readonly clusterId: string;
  /** In the order of their indexes. */
  readonly snapshots: readonly StoredSnapshot[];
  readonly segments: readonly StoredSegment[];
  /** One for each snapshot, in their order, with its segments and its end. */
  readonly chains: readonly Chain[];
  readonly problems: readonly CatalogProblem[];
}

/** The ids of all clusters that have objects in the store. */
export async function listClusters(store: BackupStore): Promise<string[]> {
  const found = new Set<string>();
  for await (const { name } of store.list("")) {
    const clusterId = name.slice(0, name.indexOf("/"));
    if (isClusterId(clusterId)) {
      found.add(clusterId);
    }
  }
  return [...found].sort();
}

/**
 * Reads the catalog of a cluster; without an id, of the only cluster in the store. Raises a StoreFailure, and a
 * BackupError (no-backup) if no id is given and the store does not have exactly one cluster.
 */
export async function readCatalog(store: BackupStore, clusterId?: string): Promise<Catalog> {
  const id = clusterId ?? (await onlyCluster(store));
  if (!isClusterId(id)) {
    throw new BackupError("bad-argument", "the id of the cluster must be a UUID in lower case");
  }
  const objects: StoredObject[] = [];
  for await (const object of store.list(`${id}/`)) {
    objects.push(object);
  }
  return catalogOf(id, objects);
}

async function onlyCluster(store: BackupStore): Promise<string> {
  const [first, ...others] = await listClusters(store);
  if (first === undefined) {
    throw new BackupError("no-backup", `${store.describe()} has no backup. Check the location`);
  }
  if (others.length > 0) {
    throw new BackupError(
      "no-backup",
      `${store.describe()} has backups of several clusters: ${[first, ...others].join(", ")}. Name one of them`,
    );
  }
  return first;
}

/** @param objects a listing of the objects below the id of the cluster */
export function catalogOf(clusterId: string, objects: Iterable<StoredObject>): Catalog {
  const snapshots: StoredSnapshot[] = [];
  const segments: StoredSegment[] = [];
  const problems: CatalogProblem[] = [];
  for (const { name, size, modifiedMs } of objects) {
    const parsed = parseObjectName(name);
    if (parsed?.clusterId === clusterId) {
      if (parsed.kind === "snapshot") {
        snapshots.push({ ...parsed, size, modifiedMs });
      } else {
        segments.push({ ...parsed, size, modifiedMs });
      }
    } else if (name !== hintName(clusterId)) {
      problems.push({ kind: "unknown-object", name, message: `${name} is not the name of a backup` });
    }
  }
  snapshots.sort((a, b) => a.index - b.index || compareText(a.id, b.id));
  segments.sort((a, b) => a.firstIndex - b.firstIndex || a.lastIndex - b.lastIndex || compareText(a.id, b.id));
  problems.push(...linkProblems(snapshots, segments));
  return { clusterId, snapshots, segments, chains: chainsOf(snapshots, segments), problems };
}

function linkProblems(snapshots: readonly StoredSnapshot[], segments: readonly StoredSegment[]): CatalogProblem[] {
  const ends = new Map<string, number>();
  for (const { id, index } of snapshots) {
    ends.set(id, index);
  }
  for (const { id, lastIndex } of segments) {
    ends.set(id, lastIndex);
  }
  const problems: CatalogProblem[] = [];
  for (const [position, { name, previousId, firstIndex, lastIndex }] of segments.entries()) {
    const end = ends.get(previousId);
    if (end === undefined) {
      if (!snapshots.some(({ index }) => index >= firstIndex - 1 && index <= lastIndex)) {
        const message = `${name} follows object ${previousId}, which is missing`;
        problems.push({ kind: "missing-previous", name, message });
      }
    } else if (end !== firstIndex - 1) {
      problems.push({
        kind: "gap",
        name,
        message: `${name} begins at index ${firstIndex}, and the object before it ends at ${end}`,
      });
    }
    if (segments[position - 1]?.firstIndex === firstIndex) {
      problems.push({ kind: "fork", name, message: `${name} begins at index ${firstIndex}, as another segment does` });
    }
  }
  return problems;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
