/** Building blocks of the tables of expectations. They know the contract, but not the implementation. */

export type { Accounts, KeyBody, Role, TestUser, UserBody } from "./accounts.ts";
export type { Answer } from "./answer.ts";
export { bytesOf, type CallOptions, type Connection, PROTOCOLS, type Protocol } from "./connection.ts";
export {
  append,
  appendBatch,
  createdLog,
  EVENT_STREAM,
  type EventBody,
  followEvents,
  newLog,
  newLogPath,
  payloadsOf,
  readEvents,
  sequenceOf,
  sequencesOf,
} from "./event-logs.ts";
export {
  areSameBytes,
  expectFields,
  type Fields,
  isAbove,
  isAnything,
  isAtLeast,
  isPositive,
  isUnixMs,
  isUuid,
  isWithinSeconds,
  succeeded,
} from "./expectations.ts";
export { follow, followLog } from "./follow.ts";
export {
  answered,
  expectHttpRefusal,
  type HttpAnswer,
  type HttpCode,
  type HttpConnection,
  type HttpRequest,
} from "./http-connection.ts";
export { HttpEvents } from "./http-events.ts";
export { NotApplicable } from "./not-applicable.ts";
export * from "./operations.ts";
export { framed, type Origin, openCall, rawCall } from "./raw-call.ts";
export type { Reason } from "./reasons.ts";
export { expectReplay, replayed } from "./replays.ts";
export type { Stream } from "./stream.ts";
export type { Entries, Table } from "./table.ts";
export { claimsOf, type Target } from "./target.ts";
export { type Queued, TestContext } from "./test-context.ts";
export { TestRun } from "./test-run.ts";
export {
  type CompareFields,
  committed,
  type OperationFields,
  refusesTransaction,
  resultsOf,
  type TransactFields,
  transaction,
} from "./transactions.ts";
export { until } from "./until.ts";
