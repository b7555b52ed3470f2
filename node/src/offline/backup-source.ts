/** Opens a backup for reading: the objects in the store, and those that are needed to reach the point. */

import {
  type BackupStore,
  type Catalog,
  type DecryptOptions,
  openStore,
  planRestore,
  type RestorePlan,
  readCatalog,
  readKeyFile,
  SnapshotFile,
  type StoreLocation,
} from "@quoin/backup";
import type { BackupSource } from "../process/index.ts";

export interface OpenBackup {
  readonly store: BackupStore;
  readonly decryptOptions: DecryptOptions;
  readonly catalog: Catalog;
  readonly plan: RestorePlan;
}

/**
 * Runs the action with the backup, then closes its store. Raises a BackupError if there is no such backup, if the
 * backup does not reach the point, or if the keys do not fit. Also raises a StoreFailure, and the errors of the action.
 */
export async function withBackup<T>(source: BackupSource, action: (backup: OpenBackup) => Promise<T>): Promise<T> {
  const { keyFile, allowsUnencrypted } = source;
  const decryptOptions: DecryptOptions =
    keyFile === null ? {} : { keyRing: (await readKeyFile(keyFile)).keyRing, allowsUnencrypted };
  const store = await open(source.location, decryptOptions);
  try {
    const catalog = await readCatalog(store, source.clusterId ?? undefined);
    const plan = planRestore(catalog, source.point, source.snapshotId ?? undefined);
    return await action({ store, decryptOptions, catalog, plan });
  } finally {
    await store.close();
  }
}

async function open(location: StoreLocation, decryptOptions: DecryptOptions): Promise<BackupStore> {
  const isFile = location.kind === "directory" && (await SnapshotFile.exists(location.directory));
  return isFile ? SnapshotFile.open(location.directory, decryptOptions) : openStore(location, { create: false });
}
