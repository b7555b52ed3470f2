export type { ReportedUse, ResetOwner } from "./account-commands.ts";
export type { SettledWait } from "./apply-context.ts";
export type { HoldReason, KeyChange, LockChange, WatchedChange } from "./changes.ts";
export { type Checkpoint, Checkpoints } from "./checkpoints.ts";
export type { Reconfigure } from "./cluster.ts";
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
  type SetClusterVersion,
} from "./command.ts";
export { type Code, CoordinationError, type ErrorOutcome, type Reason } from "./coordination-error.ts";
export { derivedIdText } from "./derived-id.ts";
export { hasDueDuplicates } from "./duplicates.ts";
export {
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
export { completeFrom, isHistoryDue, type RevisionChanges, scanHistory } from "./history.ts";
export { readHistoryBounds } from "./history-ledger.ts";
export { expiredKeys, getKey, type KeyPage, listKeys, type PageBounds } from "./keys.ts";
export { DEFAULT_STATE_LIMITS, type HistoryLimits, type StateLimits } from "./limits.ts";
export type { AcquireLock, CancelAcquisition, CreateLock, ReleaseLock } from "./lock-commands.ts";
export type { Hold, LockMode, LockName } from "./lock-fields.ts";
export { dueLockTimers, type Lock, visitWaits, type Wait } from "./lock-rows.ts";
export { describeLock, type LockView } from "./lock-view.ts";
export { type AppendEvents, BATCH_EVENTS_MAX, type LogGuard, type LogOperation } from "./log-commands.ts";
export { hasDueRetention } from "./log-retention.ts";
export { eventCountOf, type LogEvent } from "./log-rows.ts";
export { type Divergence, isLongEntry, needOf, StateMachine } from "./machine.ts";
export {
  type ClaimSlot,
  changeOf,
  decodeMembershipEntry,
  encodeMembershipEntry,
  type MembershipEntry,
  type MembershipOperation,
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
export type { ApiKey, EventLog, LogSettings, Role, StoredKey, User, UserStatus } from "./objects.ts";
export type { Outcome, Replayed } from "./outcome.ts";
export { copyBytes, Payloads } from "./payloads.ts";
export type { Principal, RequestIdentity } from "./principal.ts";
export {
  type Access,
  type AccountPage,
  addressInAnyCase,
  includesAccess,
  includesNamespace,
  listApiKeys,
  listApiKeysOf,
  listUsers,
  managedUsers,
  mayManage,
  type Need,
  readApiKey,
  readApiKeyByPrefix,
  readUser,
  readUserByEmail,
  refusalOf,
  roleAccess,
  writeUser,
} from "./principals.ts";
export type { UsageLevels } from "./progress.ts";
export { type Progress, readProgress } from "./progress.ts";
export { type NamespaceLimits, namespaceFull, unsetLimits } from "./quotas.ts";
export { decodeText, encodeText } from "./record.ts";
export type { FilterSeed } from "./replay-filters.ts";
export { droppedReplays, type GenerationTotals, replayGenerationMs, scanGenerations } from "./replay-ledger.ts";
export { hasEndedReplays } from "./replays.ts";
export { restoreValues } from "./restored-values.ts";
export type {
  AcquireLockResult,
  AppendEventsResult,
  ClaimSlotResult,
  CompactHistoryResult,
  CompareAndSwapResult,
  CreateNamespaceResult,
  DeleteKeyResult,
  DeleteUserResult,
  LockState,
  MembershipResult,
  PutKeyResult,
  PutSettingsResult,
  ResetOwnerResult,
  Result,
  RevokeApiKeyResult,
  RotateSigningKeyResult,
} from "./results.ts";
export { isHotRow, PROGRESS_ROW, replayRange, STATE_TABLES } from "./rows.ts";
export { SequenceRuns } from "./sequence-runs.ts";
export { namespaceLimitsOf, namespaceWatchesMaxOf, rateLimitOf, readSettings, settingOf } from "./settings.ts";
export {
  endedSigningKeys,
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
} from "./usage.ts";
export { readVerification, userNotFound } from "./users.ts";
