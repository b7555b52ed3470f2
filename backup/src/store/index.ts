/** Stores for objects, and the store in a directory. They know nothing about the content of objects. */

export { type BackupStore, type ByteRange, LEFTOVER_AGE_MS, type StoredObject } from "./backup-store.ts";
export { DirectoryStore, type DirectoryStoreOptions } from "./directory-store.ts";
export { guardDisk } from "./disk-failure.ts";
export { type DirectoryLocation, parseLocation, type S3Location, type StoreLocation } from "./location.ts";
export { isObjectName, requireObjectName, requirePrefix } from "./object-path.ts";
export { StoreFailure, type StoreFailureKind } from "./store-failure.ts";
