/** A backup that is opened to be read: what is in the store, and which of it is needed to reach the point. */

import {
  type BackupStore,
  type Catalog,
  openStore,
  planRestore,
  type RestorePlan,
  readCatalog,
  readKeyFile,
  SnapshotFile,
  type StoreLocation,
  type UnsealOptions,
} from "@quoin/backup";
import type { BackupSource } from "./restore-flags.ts";

export interface OpenBackup {
  readonly store: BackupStore;
  readonly unseal: UnsealOptions;
  readonly catalog: Catalog;
  readonly plan: RestorePlan;
}

/**
 * Runs the action with the backup, and closes its store. Raises a BackupError if there is no such backup, the point is not
 * reached, or the keys cannot be used; a StoreFailure; and what the action raises.
 */
export async function withBackup<T>(source: BackupSource, action: (backup: OpenBackup) => Promise<T>): Promise<T> {
  const unseal: UnsealOptions = source.keyFile === null ? {} : { keyRing: (await readKeyFile(source.keyFile)).keyRing };
  const store = await open(source.location, unseal);
  try {
    const catalog = await readCatalog(store, source.clusterId ?? undefined);
    const plan = planRestore(catalog, source.point, source.snapshotId ?? undefined);
    return await action({ store, unseal, catalog, plan });
  } finally {
    await store.close();
  }
}

async function open(location: StoreLocation, unseal: UnsealOptions): Promise<BackupStore> {
  const isFile = location.kind === "directory" && (await SnapshotFile.isThere(location.directory));
  return isFile ? SnapshotFile.open(location.directory, unseal) : openStore(location, { create: false });
}
