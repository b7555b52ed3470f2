/** Opens the store of a location. It loads the large S3 library only for S3. */

import type { S3Options } from "./s3/index.ts";
import { type BackupStore, DirectoryStore, type StoreLocation } from "./store/index.ts";

export interface OpenStoreOptions {
  /** Whether to create a missing directory. A bucket is never created. */
  readonly create: boolean;
  readonly s3?: S3Options | undefined;
}

/** Raises a StoreFailure. Sends no request to a bucket yet. */
export async function openStore(location: StoreLocation, { create, s3 = {} }: OpenStoreOptions): Promise<BackupStore> {
  if (location.kind === "directory") {
    return DirectoryStore.open({ directory: location.directory, create });
  }
  const { S3Store } = await import("./s3/index.ts");
  return S3Store.open(location, s3);
}
