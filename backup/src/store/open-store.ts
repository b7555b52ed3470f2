/** Opens the store that a location means. */

import type { BackupStore } from "./backup-store.ts";
import { DirectoryStore } from "./directory-store.ts";
import type { DirectoryLocation } from "./location.ts";

export interface OpenStoreOptions {
  /** Whether a missing directory is made. */
  readonly create: boolean;
}

/** Raises a StoreFailure. */
export async function openStore(location: DirectoryLocation, { create }: OpenStoreOptions): Promise<BackupStore> {
  return DirectoryStore.open({ directory: location.directory, create });
}
