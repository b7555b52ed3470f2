/** Opens the store that a location means. What S3 needs is loaded only for S3: it is a large library. */

import type { S3Options } from "./s3/index.ts";
import { type BackupStore, DirectoryStore, type StoreLocation } from "./store/index.ts";

export interface OpenStoreOptions {
  /** Whether a missing directory is made. A bucket never is. */
  readonly create: boolean;
  readonly s3?: S3Options | undefined;
}

/** Raises a StoreFailure. A bucket is asked for nothing yet. */
export async function openStore(location: StoreLocation, { create, s3 = {} }: OpenStoreOptions): Promise<BackupStore> {
  if (location.kind === "directory") {
    return DirectoryStore.open({ directory: location.directory, create });
  }
  const { S3Store } = await import("./s3/index.ts");
  return S3Store.open(location, s3);
}
