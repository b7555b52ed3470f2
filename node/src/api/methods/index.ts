export { type AccountMethods, accountMethods } from "./account-methods.ts";
export type { ApiKeyMethods, CreatedKey, ListedKeys } from "./api-key-methods.ts";
export { attempt, toError } from "./attempt.ts";
export { BackupListingMethods } from "./backup-listing-methods.ts";
export { BackupMethods } from "./backup-methods.ts";
export { BootstrapMethod } from "./bootstrap-method.ts";
export {
  type Call,
  type CancellableCall,
  type FiniteStream,
  mapReply,
  type OpenCall,
  type Reply,
  type ResponseStream,
} from "./call.ts";
export { ClusterAdminMethods } from "./cluster-admin-methods.ts";
export { ClusterMethods } from "./cluster-methods.ts";
export {
  type Appended,
  type AppendFields,
  type AppendRequest,
  type AppendTarget,
  type DescribedLog,
  EventLogMethods,
  type EventPage,
  type EventStream,
  type ListedLogs,
  type OpenTail,
  runMessages,
} from "./event-log-methods.ts";
export { Executor, noReplica } from "./executor.ts";
export type { HostMember, HostReplica } from "./host.ts";
export { KeyListingMethods } from "./key-listing-methods.ts";
export { KeyValueMethods } from "./key-value-methods.ts";
export { LockListingMethods } from "./lock-listing-methods.ts";
export { LockMethods, waitMsOf } from "./lock-methods.ts";
export {
  appendGuardField,
  BATCH_BYTES_MAX,
  batchKeyField,
  changedSettingsField,
  EVENT_BYTES_MAX,
  EVENT_KEY_BYTES_MAX,
  eventKeyField,
  expectedSequenceField,
  LOG_NAME_BYTES_MAX,
  LOG_SETTINGS,
  listedPayloadsField,
  namedSettings,
  type SettingsFields,
  WAIT_SECONDS_MAX,
  waitSecondsField,
} from "./log-field-rules.ts";
export { MailedTokenMethods, type PasswordResetSender } from "./mailed-token-methods.ts";
export { MemberCountersMethod } from "./member-counters-method.ts";
export { type CounterSource, MemberInspection, type StreamSource } from "./member-inspection.ts";
export { roleOf } from "./member-messages.ts";
export { MemoryMethods } from "./memory-methods.ts";
export { type AuditLog, OwnerResetMethod } from "./owner-reset-method.ts";
export { SessionMethods } from "./session-methods.ts";
export { type SharedForms, sharedForms } from "./shared-answers.ts";
export { StreamListingMethod } from "./stream-listing-method.ts";
export { type LoggedIn, TokenMethods } from "./token-methods.ts";
export { TransactionMethods } from "./transaction-methods.ts";
export { type NamespaceUse, UsageMethods, type UsageNumbers, type UsageReport } from "./usage-methods.ts";
export { type DescribedUser, type ListedUsers, UserMethods } from "./user-methods.ts";
export { WatchMethods } from "./watch-methods.ts";
