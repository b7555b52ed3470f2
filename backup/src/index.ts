/**
 * Backups of Quoin: formats, encryption, stores, chains. This package handles bytes, objects and the order of objects;
 * it knows nothing of members, of Raft or of the state. README.md describes the formats byte by byte.
 */

export * from "./chain/index.ts";
export {
  type Decrypted,
  type DecryptOptions,
  decrypt,
  type EncryptionKey,
  encrypt,
  encryptionKeyId,
  type KeyFile,
  KeyRing,
  parseKeys,
  readKeyFile,
} from "./envelope/index.ts";
export {
  BackupError,
  type BackupErrorCode,
  type Batches,
  type ByteStream,
  type CheckedSnapshot,
  checkSnapshot,
  type Entry,
  isClusterId,
  isObjectId,
  newObjectId,
  type ObjectReading,
  type ObjectSummary,
  type ObjectWriting,
  type Origin,
  type Row,
  readSegment,
  readSnapshot,
  type SegmentHeader,
  type SnapshotHeader,
  writeSegment,
  writeSnapshot,
} from "./format/index.ts";
export { type OpenStoreOptions, openStore } from "./open-store.ts";
export type { RetryPolicy, S3Credentials, S3Options } from "./s3/index.ts";
export {
  type BackupStore,
  type ByteRange,
  type DirectoryLocation,
  parseLocation,
  type S3Location,
  type StoredObject,
  StoreFailure,
  type StoreFailureKind,
  type StoreLocation,
} from "./store/index.ts";
