/** Takes a snapshot of the state of this member: as a stream, or to a store. */

import {
  type Batches,
  newObjectId,
  type ObjectWriting,
  putHint,
  putSnapshot,
  type Row,
  type SnapshotHeader,
  snapshotName,
  writeSnapshot,
} from "@quoin/backup";
import type { StateExport } from "../replica/index.ts";
import type { ArchiveHost } from "./archive-host.ts";
import type { OpenBackupTarget } from "./backup-target.ts";

/** A snapshot that is complete and durable in a store. */
export interface TakenSnapshot {
  readonly header: SnapshotHeader;
  /** Name of the object. */
  readonly name: string;
  readonly hash: Uint8Array;
}

/** Progress of a snapshot. */
export interface SnapshotProgress {
  rows: number;
  bytes: number;
}

/** The header of a snapshot of this state. */
export function snapshotHeader(
  { clusterName, version }: Pick<ArchiveHost, "clusterName" | "version">,
  { progress, cluster }: Pick<StateExport, "progress" | "cluster">,
  id: string = newObjectId(),
): SnapshotHeader {
  const { appliedIndex: index, appliedTerm: term, revision, tickMs, wallMs, digest: stateDigest } = progress;
  const { clusterId, version: clusterVersion } = cluster;
  const origin = { clusterId, clusterName, id, quoinVersion: version, clusterVersion };
  return { ...origin, index, term, revision, tickMs, wallMs, stateDigest };
}

/** The bytes of a snapshot, not encrypted, at the pace of the reader. */
export function streamSnapshot(header: SnapshotHeader, exported: StateExport): ObjectWriting {
  return writeSnapshot(header, exported.rows());
}

/**
 * Writes a snapshot to the store. If it raises a StoreFailure, a BackupError, or a StateExportEnded, the store has no
 * object.
 */
export async function storeSnapshot(
  { store, keyRing }: OpenBackupTarget,
  header: SnapshotHeader,
  exported: StateExport,
  progress: SnapshotProgress,
): Promise<TakenSnapshot> {
  try {
    const { clusterId, clusterName, quoinVersion } = header;
    await putHint(store, clusterId, { clusterName, quoinVersion });
    const { hash } = await putSnapshot(store, header, counted(exported, progress), keyRing);
    return { header, name: snapshotName(header), hash };
  } finally {
    exported.close();
  }
}

async function* counted(exported: StateExport, progress: SnapshotProgress): Batches<Row> {
  for await (const rows of exported.rows()) {
    progress.rows += rows.length;
    progress.bytes += rows.reduce((bytes, { key, value }) => bytes + key.length + value.length, 0);
    yield rows;
  }
}
