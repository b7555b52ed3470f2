export type { ReportedUse, ResetOwner } from "./account-commands.ts";
export type { RevokeApiKeyResult } from "./api-keys.ts";
export type { SettledWait } from "./apply-context.ts";
export type { HoldReason, KeyChange, LockChange, WatchedChange } from "./changes.ts";
export { type Checkpoint, Checkpoints } from "./checkpoints.ts";
export {
  CLUSTER_VERSION,
  CLUSTER_VERSIONS,
  type Cluster,
  type ClusterMember,
  clusterRow,
  describeKnownVersions,
  findClusterVersion,
  INCARNATION_BYTES,
  type MemberAddress,
  readCluster,
  UnknownVersion,
  type VersionFinding,
} from "./cluster.ts";
export {
  type CheckDigest,
  type ClientCommand,
  type ClientOperation,
  type ClientRequest,
  type ClusterOperation,
  COMMAND_KINDS,
  type Command,
  decodeCommand,
  encodeCommand,
  encodeRequest,
  type HttpCommand,
  type HttpOperation,
  isGrowing,
  type Principal,
  type RequestIdentity,
  type SetClusterVersion,
} from "./command.ts";
export { type Code, CoordinationError, type ErrorOutcome, type Reason } from "./coordination-error.ts";
export { derivedIdText } from "./derived-id.ts";
export { hasDueDuplicates } from "./duplicates.ts";
export {
  type AppendEventsResult,
  describeLog,
  type LogPage,
  type LogSelection,
  listLogs,
  logNotFound,
  managingAccess,
  readEvents,
  sequencesOf,
} from "./event-logs.ts";
export {
  type FormerCluster,
  readFormerCluster,
  readFormerClusters,
  type SuccessionCause,
} from "./former-clusters.ts";
export { DEFAULT_NAMESPACE, encodeFounding, type Founding, type FoundingOwner } from "./founding.ts";
export { checkGuard, type Guard } from "./guards.ts";
export {
  completeFrom,
  isHistoryDue,
  type RevisionChanges,
  readHistoryBounds,
  scanHistory,
} from "./history.ts";
export type { CompareAndSwapResult, DeleteKeyResult, PutKeyResult } from "./keys.ts";
export { expiredKeys, getKey, type KeyPage, listKeys, type PageBounds, type StoredKey } from "./keys.ts";
export { DEFAULT_STATE_LIMITS, type HistoryLimits, type StateLimits } from "./limits.ts";
export type { AcquireLock, CancelAcquisition, CreateLock, LockMode, LockName, ReleaseLock } from "./lock-commands.ts";
export { dueLockTimers, type Hold, type Lock, visitWaits, type Wait } from "./lock-rows.ts";
export { type AcquireLockResult, describeLock, type LockState, type LockView } from "./lock-view.ts";
export {
  type AppendEvents,
  BATCH_EVENTS_MAX,
  type LogGuard,
  type LogOperation,
  type LogSettings,
} from "./log-commands.ts";
export { hasDueRetention } from "./log-retention.ts";
export { type EventLog, eventCountOf, type LogEvent } from "./log-rows.ts";
export { type Divergence, isLongEntry, needOf, type Reconfigure, StateMachine } from "./machine.ts";
export {
  type ClaimSlot,
  type ClaimSlotResult,
  changeOf,
  decodeMembershipEntry,
  encodeMembershipEntry,
  type MembershipEntry,
  type MembershipOperation,
  type MembershipResult,
  refusalOfChange,
  SLOTS_MAX,
  type UpdateMember,
} from "./membership.ts";
export { describeMemory, listMemory, type MemoryRegion, readMemory } from "./memory.ts";
export { hasErasures } from "./memory-pages.ts";
export { rowsPut, scanMerged } from "./merged-scan.ts";
export {
  KEPT_QUOTAS,
  type KeptQuota,
  type NamespaceUsage,
  readNamespaceUsage,
  scanNamespaceUsage,
} from "./namespace-accounts.ts";
export { NAMESPACE_PATTERN, requireNamespace } from "./namespaces.ts";
export type { CompactHistoryResult, CreateNamespaceResult, Outcome, Replayed, Result } from "./outcome.ts";
export type { ResetOwnerResult } from "./owner-reset.ts";
export { copyBytes, Payloads } from "./payloads.ts";
export {
  type Access,
  type AccountPage,
  type ApiKey,
  addressInAnyCase,
  includesAccess,
  includesNamespace,
  listApiKeys,
  listApiKeysOf,
  listUsers,
  managedUsers,
  mayManage,
  type Need,
  type Role,
  readApiKey,
  readApiKeyByPrefix,
  readUser,
  readUserByEmail,
  refusalOf,
  roleAccess,
  type User,
  type UserStatus,
  writeUser,
} from "./principals.ts";
export { type Progress, readProgress } from "./progress.ts";
export { type NamespaceLimits, namespaceFull, unsetLimits } from "./quotas.ts";
export { decodeText, encodeText } from "./record.ts";
export type { FilterSeed } from "./replay-filters.ts";
export { droppedReplays, type GenerationTotals, replayGenerationMs, scanGenerations } from "./replay-ledger.ts";
export { hasEndedReplays } from "./replays.ts";
export { restoreValues } from "./restored-values.ts";
export { isHotRow, PROGRESS_ROW, replayRange, STATE_TABLES } from "./rows.ts";
export { SequenceRuns } from "./sequence-runs.ts";
export {
  namespaceLimitsOf,
  namespaceWatchesMaxOf,
  type PutSettingsResult,
  rateLimitOf,
  readSettings,
  settingOf,
} from "./settings.ts";
export {
  endedSigningKeys,
  type RotateSigningKeyResult,
  readPageTokenKey,
  readSigningKey,
  readSigningKeys,
  type SigningKey,
  TOKEN_LIFETIME_MS_MAX,
} from "./signing-keys.ts";
export type { Steps } from "./steps.ts";
export type { Change, KeyRange, Row, StateReader, StateStore } from "./store.ts";
export { acquisitionOutcome, type LookedAt, storedOutcome } from "./stored-outcome.ts";
export {
  encodeSuccession,
  REVISION_JUMP_DEFAULT,
  revisionJumpObjection,
  type Succession,
} from "./succession.ts";
export { type Digest, Transaction } from "./transaction.ts";
export {
  type Granularity,
  isUsageDue,
  NO_USAGE,
  readUsage,
  scanPrincipalUsage,
  sumOf,
  type UsageBucket,
  type UsageCounts,
  type UsageLevels,
} from "./usage.ts";
export { type DeleteUserResult, readVerification, userNotFound } from "./users.ts";
