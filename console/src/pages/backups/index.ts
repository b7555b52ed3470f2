/** The backups of the cluster, and whether there are any to show. */

export { hasBackupStore, lookForBackupStore } from "./backup-store.ts";
export { BackupsPage } from "./backups-page.tsx";
