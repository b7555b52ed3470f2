export { applyPruneEventKeys, hasDueEventKeys } from "./event-deduplication.ts";
export {
  applyAppendEvents,
  applyCreateLog,
  applyDeleteLog,
  applyUpdateLogSettings,
  describeLog,
  type LogPage,
  type LogSelection,
  listLogs,
  logNotFound,
  managingAccess,
  readEvents,
  sequencesOf,
} from "./event-logs.ts";
export {
  type AppendEvents,
  BATCH_EVENTS_MAX,
  LOG_KINDS,
  type LogClusterOperation,
  type LogGuard,
  type LogOperation,
  readAppendEvents,
  readLogOperation,
  writeLogOperation,
} from "./log-commands.ts";
export { applyApplyRetention, applyEraseLogs, hasDueRetention } from "./log-retention.ts";
export { eventCountOf, type LogEvent } from "./log-rows.ts";
export { copyBytes, Payloads } from "./payloads.ts";
