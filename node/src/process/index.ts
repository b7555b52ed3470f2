export { abortProcess } from "./abort-process.ts";
export { requireBucketFor, withCredentials } from "./backup-flags.ts";
export { ClientConnectionLimiters } from "./client-connection-limiters.ts";
export { type Configuration, formatListen, isLoopback, parseConfiguration } from "./configuration.ts";
export { DISK_STUCK_MESSAGE, ExitCode, exitCodeOf, kindOf } from "./exit-code.ts";
export { parseClusterId, parseEmail, parseName, parseRevisionJump, parseStore } from "./flag-values.ts";
export { bound, listenHttp, openTls, type Stoppable } from "./listening.ts";
export { GROUP_TITLES, LOCATION_HELP, MEMBER_FLAGS } from "./member-flags.ts";
export { memberHealth } from "./member-health.ts";
export { memberMailer } from "./member-mail.ts";
export {
  type BackupSource,
  type RestoreConfiguration,
  SOURCE_FLAGS,
  type SourceFlags,
  sourceOf,
} from "./restore-flags.ts";
export { SharedTimer } from "./shared-timer.ts";
