/** Controllers of the backup kinds: stores, backups, schedules. */
export { BACKUP_KINDS, BackupControllers, backupKey } from "./backup-controllers.ts";
export type { BackupsContext } from "./context.ts";
export { SCHEDULE_LABEL } from "./schedule-reconciler.ts";
