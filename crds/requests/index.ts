/** Sample objects for tests of the definitions, with and without an API server. */
export {
  ACCEPTED_BACKUPS,
  type BackupRequest,
  REFUSED_BACKUPS,
  type RefusedBackupRequest,
} from "./backup-requests.ts";
export { ACCEPTED, NAMES, PRODUCTION, REFUSED, type RefusedRequest } from "./requests.ts";
