export { checkGuard, type Guard, guarded, readGuard, writeGuard } from "./guards.ts";
export {
  type AcquireLock,
  type CancelAcquisition,
  type CreateLock,
  type LockClientOperation,
  type LockClusterOperation,
  type ReleaseLock,
  readAcquireLock,
  readCancelAcquisition,
  readCreateLock,
  readExpireLocks,
  readForceReleaseLock,
  readReleaseLock,
  writeLockOperation,
} from "./lock-commands.ts";
export {
  type ListedLock,
  type LockPage,
  type LockSelection,
  listLocks,
  listLockWaits,
} from "./lock-listing.ts";
export { lockLost, superseded } from "./lock-refusals.ts";
export { resetLocks } from "./lock-reset.ts";
export { dueLockTimers, type Lock, readLock, visitWaits, type Wait } from "./lock-rows.ts";
export { acquireResult, describeLock, type LockView } from "./lock-view.ts";
export {
  applyAcquireLock,
  applyCancelAcquisition,
  applyCreateLock,
  applyExpireLocks,
  applyForceReleaseLock,
  applyReleaseLock,
} from "./locks.ts";
