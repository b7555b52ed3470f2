export { ApplyContext, type EndedWait, REVISION_CHANGES_MAX } from "./apply-context.ts";
export { endOf, type HoldReason, type KeyChange, type LockChange, type WatchedChange } from "./changes.ts";
export { type Checkpoint, Checkpoints } from "./checkpoints.ts";
export {
  applySetClusterVersion,
  CLUSTER_VERSION,
  CLUSTER_VERSIONS,
  type Cluster,
  type ClusterMember,
  clusterRow,
  describeKnownVersions,
  findClusterVersion,
  hasRulesOf,
  INCARNATION_BYTES,
  type MemberAddress,
  type Reconfigure,
  readAddress,
  readCluster,
  UnknownVersion,
  VERSION_WITH_REQUEST_IDS,
  VERSION_WITH_SESSIONS,
  VERSION_WITH_TOUCH,
  VERSION_WITH_TRANSACTIONS,
  type VersionFinding,
  writeAddress,
  writeCluster,
} from "./cluster.ts";
export {
  badField,
  badRequestField,
  type Code,
  CoordinationError,
  type ErrorOutcome,
  isReason,
  type Reason,
  tooLarge,
} from "./coordination-error.ts";
export type { FilterSeed } from "./answer-filters.ts";
export {
  type AnswerSlot,
  AnswerLedger,
  droppedGenerations,
  type GenerationTotals,
  generationMs,
  hasGenerationEnded,
  readAnswer,
  scanGenerations,
} from "./answer-ledger.ts";
export { derivedId, derivedIdText } from "./derived-id.ts";
export {
  bytes,
  count,
  countWithSession,
  decodeRow,
  encodeRow,
  type Field,
  fixedBytes,
  flag,
  int64,
  listOf,
  name,
  nullable,
  nullInstead,
  oneOf,
  optional,
  optionalCount,
  orEmpty,
  ownSession,
  recordOf,
  smallCount,
  text,
  uint64,
} from "./fields.ts";
export type { CompactHistoryResult } from "./history.ts";
export {
  applyCompactHistory,
  type CompactHistory,
  compactHistoryOperation,
  compactRevisionOf,
  completeFrom,
  firstCompleteOf,
  isHistoryDue,
  type RevisionChanges,
  readHistory,
  recordChanges,
  scanHistory,
  type TrimHistory,
  trimHistoryOperation,
} from "./history.ts";
export { type HistoryBounds, HistoryLedger, readHistoryBounds } from "./history-ledger.ts";
export { DEFAULT_STATE_LIMITS, type HistoryLimits, type StateLimits } from "./limits.ts";
export {
  attempt,
  type Hold,
  holdField,
  LOCK_NAME,
  type LockMode,
  type LockName,
  lockMode,
  lockName,
  readHoldFields,
  writeHoldFields,
} from "./lock-fields.ts";
export { rowsPut, scanMerged } from "./merged-scan.ts";
export {
  COUNTED_QUOTAS,
  type CountedQuota,
  NamespaceAccounts,
  type NamespaceUsage,
  readNamespaceUsage,
  scanNamespaceUsage,
} from "./namespace-accounts.ts";
export {
  type ListedNamespace,
  listNamespaces,
  type NamespacePage,
  type NamespaceSelection,
} from "./namespace-listing.ts";
export { NAMESPACE_PATTERN, readNamespace, requireNamespace, scanNamespaces, writeNamespace } from "./namespaces.ts";
export type { ApiKey, EventLog, LogSettings, Role, StoredKey, User, UserStatus } from "./objects.ts";
export {
  answerForm,
  type ClientOperationKind,
  type ClusterOperationKind,
  clientOperation,
  clusterOperation,
  clusterStep,
  continuedOperation,
  type NamespacedOperationKind,
  type OperationKind,
  type OperationOf,
  operationByContent,
  operationWithOptionalId,
} from "./operation.ts";
export { type AnswerForm, AnswerForms, type Outcome, type Replayed } from "./outcome.ts";
export {
  type Access,
  HASH_BYTES,
  optionalRequest,
  type Principal,
  REQUEST_ID_BYTES,
  type RequestIdentity,
  type RequiredAccess,
  readPrincipal,
  requestIdentity,
  writePrincipal,
} from "./principal.ts";
export { encodeProgress, type Progress, readProgress, type UsageLevels } from "./progress.ts";
export { API_KEYS_PER_USER_MAX, type NamespaceLimits, namespaceFull, unsetLimits, userFull } from "./quotas.ts";
export { decodeText, encodeText, RecordReader, RecordWriter } from "./record.ts";
export type {
  Result,
  StoredResult,
} from "./results.ts";
export {
  ACTIVE_OWNER_PREFIX,
  activeOwnerRow,
  addressClaimPrefix,
  addressClaimRow,
  answerRange,
  apiKeyByUserPrefix,
  apiKeyByUserRow,
  apiKeyKey,
  apiKeyPrefixRow,
  apiKeyRow,
  CONFIGURATION_ROW,
  emailRow,
  eventKeyOfTimer,
  eventKeyRange,
  eventKeyRow,
  eventKeyTimerRow,
  eventRow,
  expiryRow,
  formerClusterRow,
  isHotRow,
  keyRow,
  keyRowPrefixLength,
  lockHoldRow,
  lockRow,
  lockTimerRow,
  lockWaitRow,
  logErasureRow,
  logNameCursor,
  logNamePrefix,
  logNameRow,
  logNameRowAt,
  logRow,
  memoryErasureRow,
  memoryPageRow,
  memoryRegionRow,
  memorySegmentRow,
  type NamedKey,
  named,
  namespaceOfCursor,
  namespaceUsersRow,
  PAGE_TOKEN_KEY_ROW,
  PROGRESS_ROW,
  prefixEnd,
  retentionRow,
  SESSION_OBJECT_HEAD_BYTES,
  STATE_TABLES,
  sessionLifeRow,
  sessionObjectPrefix,
  sessionObjectRow,
  sessionPrefix,
  sessionRow,
  sessionTimerRow,
  sharedKeyRow,
  signingKeyRow,
  splitLockRow,
  tableRange,
  USAGE_DROPPED_ROW,
  USER_COUNT_ROW,
  usageRow,
  usageTableRow,
  userKey,
  userRow,
  verificationRow,
  withNul,
} from "./rows.ts";
export { SequenceRuns, SequenceRunsWriter, sequenceRuns, withLaterSequences } from "./sequence-runs.ts";
export type { PutSettingsResult } from "./settings.ts";
export {
  type DescribedSetting,
  describeSettings,
  isKnownSetting,
  namespaceLimitsOf,
  namespaceWatchesMaxOf,
  type PutSettings,
  putSettingsOperation,
  rateLimitOf,
  readSettings,
  SETTING_NAMES,
  settingOf,
  userApiKeysMaxOf,
} from "./settings.ts";
export { allAtOnce, STEP_ITEMS, type Steps } from "./steps.ts";
export type { Change, CountedReader, KeyRange, Row, StateReader, StateStore } from "./store.ts";
export { encodeFreshAnswer, LIVE, type StoredAnswer } from "./stored-answer.ts";
export { type Digest, Transaction } from "./transaction.ts";
export {
  KEY_OPERATION,
  LOCK_OPERATION,
  MEMORY_OPERATION,
  NO_USAGE,
  ONE_REQUEST,
  type UsageCounts,
} from "./usage-counts.ts";
