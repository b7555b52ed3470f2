/** All tables of requirements for the service. */

import type { Table } from "../harness/index.ts";
import { accountService } from "./account-service.ts";
import { accountServiceTokens } from "./account-service-tokens.ts";
import { accountsKeys } from "./accounts-keys.ts";
import { accountsLimits } from "./accounts-limits.ts";
import { accountsLogin } from "./accounts-login.ts";
import { accountsUsage } from "./accounts-usage.ts";
import { accountsUsers } from "./accounts-users.ts";
import { calls } from "./calls.ts";
import { compaction } from "./compaction.ts";
import { eventLogService } from "./event-log-service.ts";
import { eventLogServiceAppends } from "./event-log-service-appends.ts";
import { eventLogServiceReads } from "./event-log-service-reads.ts";
import { everyAccountOperation } from "./every-account-operation.ts";
import { everyLogOperation } from "./every-log-operation.ts";
import { everyOperation } from "./every-operation.ts";
import { guards } from "./guards.ts";
import { http } from "./http.ts";
import { keyValue } from "./key-value.ts";
import { listings } from "./listings.ts";
import { locks } from "./locks.ts";
import { logs } from "./logs.ts";
import { logsAppend } from "./logs-append.ts";
import { logsEvents } from "./logs-events.ts";
import { logsOrder } from "./logs-order.ts";
import { memory } from "./memory.ts";
import { namespaces } from "./namespaces.ts";
import { readWriteLocks } from "./read-write-locks.ts";
import { replay } from "./replay.ts";
import { semaphores } from "./semaphores.ts";
import { sessions } from "./sessions.ts";
import { specification } from "./specification.ts";
import { transactions } from "./transactions.ts";
import { transactionBounds } from "./transactions-bounds.ts";
import { transactionComparisons } from "./transactions-comparisons.ts";
import { transactionRefusals } from "./transactions-refusals.ts";
import { transactionWatches } from "./transactions-watches.ts";
import { waiting } from "./waiting.ts";
import { watchEvents } from "./watch-events.ts";
import { keyWatches } from "./watch-keys.ts";
import { lockWatches } from "./watch-locks.ts";

/** Those about the operations, which a client may call over HTTP too. */
export const operationTables: readonly Table[] = [
  ...everyOperation,
  ...everyLogOperation,
  ...everyAccountOperation,
  ...keyValue,
  ...locks,
  waiting,
  ...readWriteLocks,
  ...semaphores,
  guards,
  ...listings,
  ...memory,
  ...namespaces,
  keyWatches,
  lockWatches,
  compaction,
  replay,
  ...sessions,
  ...transactions,
  ...transactionComparisons,
  ...transactionRefusals,
  transactionBounds,
  transactionWatches,
  ...eventLogService,
  ...eventLogServiceAppends,
  ...eventLogServiceReads,
  ...accountService,
  ...accountServiceTokens,
];

/** Those about users and keys. They hash many passwords, which takes processor time on purpose. */
export const accountTables: readonly Table[] = [
  ...accountsLogin,
  ...accountsKeys,
  ...accountsUsers,
  accountsUsage,
  ...accountsLimits,
];

export const tables: readonly Table[] = [
  specification,
  ...operationTables,
  ...accountTables,
  ...calls,
  http,
  watchEvents,
  ...logs,
  logsOrder,
  ...logsAppend,
  ...logsEvents,
];

export { calls } from "./calls.ts";
