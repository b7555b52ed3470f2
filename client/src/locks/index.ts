export { type HoldOptions, LockHandle } from "./lock-handle.ts";
export type {
  ListedHold,
  ListedLock,
  ListLockNamesOptions,
  ListLocksOptions,
  ListLockWaitsOptions,
  LockName,
  LockNamePage,
  LockPage,
  LockWait,
} from "./lock-listing.ts";
export {
  type AcquireOptions,
  type CreateLockOptions,
  type DeleteLockOptions,
  type ForceReleaseOptions,
  type LockHold,
  type LockMode,
  type LockState,
  modeName,
  type ReadWriteLockHold,
  type ReleaseLockOptions,
  type RenewOptions,
} from "./lock-messages.ts";
export {
  type AcquireLockResult,
  type CreateLockResult,
  type DescribeLockResult,
  type ForceReleaseResult,
  LockClient,
} from "./locks.ts";
export { ReadWriteLockHandle } from "./read-write-lock-handle.ts";
export {
  type AcquireReadWriteLockResult,
  type DescribeReadWriteLockResult,
  type ForceReleaseReadWriteResult,
  ReadWriteLockClient,
  type ReleaseReadWriteLockOptions,
} from "./read-write-locks.ts";
