/** TypeScript SDK of Quoin. Start with createClient; a failed operation raises a QuoinError. */

export {
  type AddMemberResult,
  type AdminClient,
  type AdminClientOptions,
  type ArchiveStatus,
  type BackupEntry,
  type BackupRun,
  type BackupStatus,
  type BackupStatusOptions,
  type BootstrapOptions,
  type ChangeOptions,
  type ChangeResult,
  createAdminClient,
  type MemberSlot,
  type MemberStatus,
  type Membership,
  type PutSettingsOptions,
  type ResetOwnerOptions,
  type Settings,
  type StartBackupOptions,
  type StatusResult,
  type TransferOptions,
  type TransferResult,
} from "./admin-client.ts";
export type {
  ApiKeyClient,
  ApiKeyInfo,
  CreateApiKeyOptions,
  CreatedApiKey,
  ListApiKeysOptions,
  RevokedApiKey,
} from "./api-keys.ts";
export type { ChannelOptions } from "./channel.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export type { Cluster, ClusterClient } from "./cluster.ts";
export { CompactedError } from "./compacted-error.ts";
export type { Consistency, ReadOptions } from "./consistency.ts";
export { type Credentials, createTokenSource } from "./credentials.ts";
export { type CampaignOptions, Election, Leadership } from "./election.ts";
export { EndableIterator } from "./endable-iterator.ts";
export { conventionalHttpEndpoint, isEndpoint } from "./endpoint.ts";
export type { Guard, GuardedOptions } from "./guard.ts";
export type {
  CompareAndSwapOptions,
  CompareAndSwapResult,
  CreateNamespaceResult,
  DeleteOptions,
  DeleteResult,
  GetResult,
  KeyEntry,
  KeyPage,
  KeyValueClient,
  ListNamespacesOptions,
  ListOptions,
  ListPageOptions,
  NamespacePage,
  PreviousEntry,
  PutOptions,
  PutResult,
} from "./key-value.ts";
export type { KeyVersion, KeyVersionPage, KeyVersionsOptions } from "./key-versions.ts";
export type { Leader } from "./leader-view.ts";
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
export type {
  AcquireOptions,
  CreateLockOptions,
  ForceReleaseOptions,
  LockHold,
  LockMode,
  LockState,
  ReadWriteLockHold,
  ReleaseLockOptions,
  RenewOptions,
} from "./lock-messages.ts";
export type {
  AcquireLockResult,
  CreateLockResult,
  DescribeLockResult,
  ForceReleaseResult,
  LockClient,
} from "./locks.ts";
export type { EventPage, LogEvent, LogInfo, LogSettings } from "./log-messages.ts";
export type {
  AppendBatchResult,
  AppendOptions,
  AppendResult,
  CreateLogOptions,
  FindLogOptions,
  ListLogsOptions,
  LogClient,
  LogGuard,
  ReadEventsOptions,
  TailOptions,
} from "./logs.ts";
export type {
  CounterSample,
  MemberCounters,
  MemberCountersOptions,
  MemberCountersResult,
  RequestCounts,
} from "./member-counters.ts";
export type {
  AllocateOptions,
  AllocateResult,
  DescribeRegionResult,
  FreeResult,
  ListRegionsOptions,
  ListRegionsPageOptions,
  MemoryClient,
  MemoryRegionInfo,
  ReadMemoryResult,
  RegionChangeOptions,
  RegionPage,
  ResizeResult,
  WriteMemoryResult,
} from "./memory.ts";
export { MemoryRegion, type RegionReadOptions, type RegionWriteOptions, type SeekOrigin } from "./memory-region.ts";
export type { OpenStream, OpenStreamPage, OpenStreamsOptions } from "./open-streams.ts";
export type { CallOptions } from "./operation.ts";
export { isQuoinError, type Outcome, QuoinError, type QuoinErrorCode, type QuoinErrorFields } from "./quoin-error.ts";
export { ReadWriteLockHandle } from "./read-write-lock-handle.ts";
export type {
  AcquireReadWriteLockResult,
  DescribeReadWriteLockResult,
  ForceReleaseReadWriteResult,
  ReadWriteLockClient,
  ReleaseReadWriteLockOptions,
} from "./read-write-locks.ts";
export { type FormerReason, isQuoinReason, type QuoinReason, quoinReasons } from "./reasons.ts";
export { type Runtime, systemRuntime } from "./runtime.ts";
export type { SnapshotOptions, SnapshotStream } from "./snapshot-stream.ts";
export type { TlsOptions } from "./tls.ts";
export {
  type AccessToken,
  type ExchangeRequest,
  exchangeApiKey,
  type Login,
  type LoginRequest,
  logIn,
} from "./token-exchange.ts";
export type { TokenSource } from "./token-source.ts";
export type { ApiKeyUsage, NamespaceUse, QuotaUse, Usage, UsageClient, UsageNumbers, UsageOptions } from "./usage.ts";
export type { ListUsersOptions, NewUser, UserChanges, UserClient, UserInfo, UserRole } from "./users.ts";
export { Watch, type WatchBatch, type WatchOptions } from "./watch.ts";
export type { KeyEvent, LockEvent, WatchClient, WatchKeysOptions, WatchLocksOptions } from "./watch-client.ts";
