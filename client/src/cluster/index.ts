export {
  type AddMemberResult,
  AdminClient,
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
  type Membership,
  type PutSettingsOptions,
  type ResetOwnerOptions,
  type Settings,
  type StartBackupOptions,
  type StatusResult,
  type TransferOptions,
  type TransferResult,
} from "./admin-client.ts";
export { type Cluster, ClusterClient } from "./cluster.ts";
export type {
  CounterSample,
  MemberCounters,
  MemberCountersOptions,
  MemberCountersResult,
  MemberStatus,
  RequestCounts,
} from "./member-counters.ts";
export { MemberDiscovery } from "./member-discovery.ts";
export type { SnapshotOptions, SnapshotStream } from "./snapshot-stream.ts";
