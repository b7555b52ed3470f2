export type { EventPage, LogEvent, LogInfo, LogSettings } from "./log-messages.ts";
export {
  type AppendBatchResult,
  type AppendOptions,
  type AppendResult,
  type CreateLogOptions,
  type FindLogOptions,
  type ListLogsOptions,
  LogClient,
  type LogGuard,
  type ReadEventsOptions,
  type TailOptions,
} from "./logs.ts";
