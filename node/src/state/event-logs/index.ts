export { hasDueEventKeys, pruneEventKeysOperation } from "./event-keys.ts";
export {
  appendEventsOperation,
  createLogOperation,
  deleteLogOperation,
  describeLog,
  type LogPage,
  type LogSelection,
  listLogs,
  logNotFound,
  managingAccess,
  namespaceLogs,
  readEvents,
  sequencesOf,
  updateLogSettingsOperation,
} from "./event-logs.ts";
export type { AppendEventsResult, DeleteLogResult } from "./log-commands.ts";
export {
  type AppendEvents,
  BATCH_EVENTS_MAX,
  LOG_ID_BYTES,
  type LogGuard,
} from "./log-commands.ts";
export { applyRetentionOperation, eraseLogsOperation, hasDueRetention } from "./log-retention.ts";
export { eventCountOf, type LogEvent } from "./log-rows.ts";
export { copyBytes, Payloads } from "./payloads.ts";
