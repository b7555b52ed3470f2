export { checkGuard, GUARD, type Guard, isHoldLive, optionalGuard } from "./guards.ts";
export type {
  AcquireLock,
  AcquireLockResult,
  CancelAcquisition,
  CreateLock,
  CreateSemaphore,
  DeleteLock,
  LockState,
  ReleaseLock,
  ReleaseLockResult,
  SetLockValue,
  UpdateSemaphore,
} from "./lock-commands.ts";
export {
  type ListedLock,
  type LockPage,
  type LockSelection,
  listLocks,
  listLockWaits,
} from "./lock-listing.ts";
export { goneSince, lockLost, superseded } from "./lock-refusals.ts";
export { resetLocks } from "./lock-reset.ts";
export { dueLockTimers, type Lock, splitHoldThing, visitWaits, type Wait } from "./lock-rows.ts";
export { acquireResult, describeHold, describeLock, type LockView } from "./lock-view.ts";
export {
  acquireClaimOperation,
  acquireLockOperation,
  cancelAcquisitionOperation,
  createLockOperation,
  deleteLockOperation,
  endOwnedHold,
  endReleased,
  expireLocksOperation,
  forceReleaseLockOperation,
  holdToRelease,
  passOn,
  releaseLockOperation,
  releasePermitsOperation,
} from "./locks.ts";
export { namespaceLocks } from "./namespace-locks.ts";
export { createSemaphoreOperation, setLockValueOperation, updateSemaphoreOperation } from "./semaphores.ts";
