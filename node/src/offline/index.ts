export { BACKUP, backupCommand } from "./backup-verify.ts";
export { memberBackup, noteIgnoredBackup } from "./member-restore.ts";
export { EXPORT, exportOffline } from "./offline-export.ts";
export { RESET_OWNER, resetOwnerOffline } from "./offline-owner-reset.ts";
export { RECOVER, recoverOffline } from "./offline-recovery.ts";
export { RESTORE, restoreOffline } from "./offline-restore.ts";
