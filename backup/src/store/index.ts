/** Places for objects: directories and S3 buckets. They know nothing about what the objects are. */

export type { BackupStore, ByteRange, StoredObject } from "./backup-store.ts";
export { type DirectoryLocation, parseLocation, type S3Location, type StoreLocation } from "./location.ts";
export { type OpenStoreOptions, openStore } from "./open-store.ts";
export { StoreFailure, type StoreFailureKind } from "./store-failure.ts";
