export { type CountedRequest, exactlyOnceCheck } from "./exactly-once.ts";
export { EXPIRY_LATE_MS_MAX, type ExpiryLimits, type KnownLife, knownUntilMs, withExpiries } from "./expiries.ts";
export {
  History,
  type KeyAnswer,
  type KeyContent,
  type KeyOperation,
  type OpenOperation,
  type OperationOutcome,
  type RecordedOperation,
} from "./history.ts";
export { judgeHistory } from "./judgement.ts";
export { leaderlessSpans, type Span } from "./leaderless.ts";
export { lockCheck } from "./lock-check.ts";
export type { LockAnswer, LockMode, LockOperation, LockRecord, LockView } from "./lock-history.ts";
export { lockWatchCheck } from "./lock-watch-check.ts";
export { logCheck } from "./log-check.ts";
export type { AskedEvent, EventLogAnswer, EventLogOperation, EventLogRecord } from "./log-history.ts";
export { orderCheck } from "./order-check.ts";
export { contradictionOfPage, type RecordedPage, withPages } from "./pages.ts";
export { regionCheck } from "./region-check.ts";
export type { RegionAnswer, RegionOperation, RegionRecord } from "./region-history.ts";
export { describeVerdict } from "./report.ts";
export { SEARCH_LIMIT_MS, type SearchOptions, searchCheck } from "./search.ts";
export { sessionCheck } from "./session-check.ts";
export type { SessionAnswer, SessionOperation, SessionRecord } from "./session-history.ts";
export {
  beginTransaction,
  contradictionOfTransaction,
  type TransactedKey,
  type TransactionAnswer,
} from "./transactions.ts";
export type { Verdict } from "./verdict.ts";
export { watchCheck } from "./watch-check.ts";
export type { WatchedChange, WatchedLockChange, WatchedStream, Watching, WatchMessage } from "./watch-history.ts";
export { witnessCheck } from "./witness.ts";
