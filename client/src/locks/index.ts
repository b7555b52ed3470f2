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
  type AcquireLockOptions,
  type AcquireOptions,
  type CreateLockOptions,
  type DeleteLockOptions,
  type ForceReleaseOptions,
  type InSession,
  type LockHold,
  type LockMode,
  type LockState,
  modeName,
  type ReadWriteLockHold,
  type ReleaseLockOptions,
  type RenewOptions,
  type SemaphoreHold,
} from "./lock-messages.ts";
export {
  type AcquireLockResult,
  type CreateLockResult,
  type DescribeLockResult,
  type ForceReleaseResult,
  type HoldLockOptions,
  LockClient,
  type SetLockValueOptions,
} from "./locks.ts";
export { ReadWriteLockHandle } from "./read-write-lock-handle.ts";
export {
  type AcquireReadWriteLockResult,
  type DescribeReadWriteLockResult,
  type ForceReleaseReadWriteResult,
  ReadWriteLockClient,
  type ReleaseReadWriteLockOptions,
} from "./read-write-locks.ts";
export {
  type AcquireSemaphoreOptions,
  type AcquireSemaphoreResult,
  type CreateSemaphoreOptions,
  type DescribeSemaphoreResult,
  type ForceReleaseSemaphoreResult,
  type HoldSemaphoreOptions,
  SemaphoreClient,
} from "./semaphores.ts";
