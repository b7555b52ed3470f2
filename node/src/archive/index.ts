/**
 * Backups of a running member: snapshots on demand and by schedule, and the continuous archive of the log.
 */

export type { ArchiveHost } from "./archive-host.ts";
export { BACKUP_METRICS } from "./backup-metrics.ts";
export type { BackupRun } from "./backup-runs.ts";
export { type BackupConfiguration, MemberBackups } from "./member-backups.ts";
export { snapshotHeader, streamSnapshot } from "./taken-snapshot.ts";
