export { loginBody } from "./account-messages.ts";
export { ApiKeyMethods, type RevokeKeyBody } from "./api-key-methods.ts";
export { attempt, toError } from "./attempt.ts";
export { BackupListingMethods } from "./backup-listing-methods.ts";
export { BackupMethods } from "./backup-methods.ts";
export { BootstrapMethod } from "./bootstrap-method.ts";
export type { Call, CancellableCall, FiniteStream, Reply, ResponseStream } from "./call.ts";
export { ClusterAdminMethods } from "./cluster-admin-methods.ts";
export { ClusterMethods } from "./cluster-methods.ts";
export {
  type AppendEventRequest,
  type AppendedBatchMessage,
  type AppendedMessage,
  type AppendRequest,
  type DeletedLogMessage,
  EventLogMethods,
  type EventStream,
  type EventsMessage,
} from "./event-log-methods.ts";
export { Executor, noReplica } from "./executor.ts";
export type { HostMember, HostReplica } from "./host.ts";
export { KeyListingMethods } from "./key-listing-methods.ts";
export { KeyValueMethods } from "./key-value-methods.ts";
export { LockListingMethods } from "./lock-listing-methods.ts";
export { LockMethods, waitMsOf } from "./lock-methods.ts";
export { BATCH_BYTES_MAX, EVENT_BYTES_MAX, LOG_NAME_BYTES_MAX, LOG_SETTINGS } from "./log-field-rules.ts";
export { MailedTokenMethods, type PasswordResetSender } from "./mailed-token-methods.ts";
export { MemberCountersMethod } from "./member-counters-method.ts";
export { type CounterSource, MemberInspection, type StreamSource } from "./member-inspection.ts";
export { roleOf } from "./member-messages.ts";
export { MemoryMethods } from "./memory-methods.ts";
export { type AuditLog, OwnerResetMethod } from "./owner-reset-method.ts";
export { type SharedForms, sharedForms } from "./shared-answers.ts";
export { StreamListingMethod } from "./stream-listing-method.ts";
export { UsageMethods } from "./usage-methods.ts";
export { type DeleteUserBody, UserMethods } from "./user-methods.ts";
export { WatchMethods } from "./watch-methods.ts";
