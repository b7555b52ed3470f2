/** What is asked of the API server when its definitions of the operator's kinds are tried out. */
export {
  ACCEPTED_BACKUPS,
  type BackupRequest,
  REFUSED_BACKUPS,
  type RefusedBackupRequest,
} from "./backup-requests.ts";
export { ACCEPTED, NAMES, PRODUCTION, REFUSED, type RefusedRequest } from "./requests.ts";
