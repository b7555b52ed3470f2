export { createApiKey, createUser, TOKEN_LIFETIME_MS, TOKEN_SHA256, updateUser } from "./accounts.ts";
export { AppliedEventLog, appended, NO_SETTINGS } from "./applied-event-log.ts";
export {
  ANNA,
  AppliedLock,
  acquireLock,
  addUser,
  answerText,
  BEN,
  createLock,
  createSemaphore,
  NAMED,
  releaseLock,
} from "./applied-lock.ts";
export {
  AppliedLog,
  applyRows,
  dumpOf,
  type ExecuteOptions,
  FOUNDING,
  machineOver,
  OWNER,
  requestOf,
} from "./applied-log.ts";
export { AppliedReplica } from "./applied-replica.ts";
export { cheapHashing, deriveCheaply } from "./cheap-hashing.ts";
export { itNoticesDamage } from "./damaged-commands.ts";
export { FoundedCluster, secrets } from "./founded-cluster.ts";
export {
  claimText,
  LockModel,
  lockKey,
  type ModelEvent,
  type ModelHold,
  type ModelRequest,
  Refused,
} from "./lock-model.ts";
export { MemoryStateReplacement } from "./memory-state-replacement.ts";
export { MemoryStateStore } from "./memory-state-store.ts";
export { answerOrRefusal, expectSameFromRestart, stepOf } from "./model-steps.ts";
export { expectExactUsage, usageTwice } from "./namespace-recount.ts";
export { putOf } from "./put-of.ts";
export { RawConnection } from "./raw-connection.ts";
export { refused } from "./refused.ts";
export { expectExactReplays, replaysTwice } from "./replay-recount.ts";
export { REPLICATED_ROWS_END, rowsOf } from "./replicated-rows.ts";
export { soleVoter } from "./sole-voter.ts";
export { viewOf } from "./state-view.ts";
export { StoreWithTombstones } from "./store-with-tombstones.ts";
export { changeWords, lockOf, type TransactedState, TransactionModel, transactionWords } from "./transaction-model.ts";
export { unqueuedHashing } from "./unqueued-hashing.ts";
export { withEnvironment } from "./with-environment.ts";
