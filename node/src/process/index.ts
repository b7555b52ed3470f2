export { abortProcess } from "./abort-process.ts";
export { type BackupFlags, parseStore, requireBucketFor, withCredentials } from "./backup-flags.ts";
export { ClientConnectionLimiters } from "./client-connection-limiters.ts";
export {
  type Configuration,
  formatListen,
  isLoopback,
  parseConfiguration,
  parseEmail,
  parseName,
} from "./configuration.ts";
export { DISK_STUCK_MESSAGE, ExitCode, exitCodeOf, kindOf } from "./exit-code.ts";
export { bound, listenHttp, openTls, type Stoppable } from "./listening.ts";
export { memberHealth } from "./member-health.ts";
export { memberMailer } from "./member-mail.ts";
export {
  addSourceOptions,
  type BackupSource,
  LOCATION_HELP,
  parseClusterId,
  parseRevisionJump,
  type RestoreConfiguration,
  type SourceFlags,
  sourceOf,
} from "./restore-flags.ts";
export { SharedTimer } from "./shared-timer.ts";
