/**
 * Backups of a running member: snapshots on demand and by schedule, and the continuous archive of the log.
 */

export type { ArchiveHost, BackupLog } from "./archive-host.ts";
export { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from "./archive-limits.ts";
export { BACKUP_METRICS } from "./backup-metrics.ts";
export type { BackupRun } from "./backup-runs.ts";
export { type BackupConfiguration, MemberBackups } from "./member-backups.ts";
export { snapshotHeader, streamSnapshot } from "./taken-snapshot.ts";
