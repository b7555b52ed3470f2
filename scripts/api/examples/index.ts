/** All examples, in the order in which they run at one new member: later ones use what earlier ones have created. */

import { ACCOUNT_SERVICE } from "./account-service.ts";
import { ACCOUNTS } from "./accounts.ts";
import { ADMINISTRATION } from "./administration.ts";
import { CLUSTER } from "./cluster.ts";
import { EVENT_LOG_SERVICE } from "./event-log-service.ts";
import { EVENT_LOGS } from "./event-logs.ts";
import type { Example } from "./example.ts";
import { FOUNDING } from "./founding.ts";
import { HEALTH } from "./health.ts";
import { KEY_VALUE } from "./key-value.ts";
import { LOCKS } from "./locks.ts";
import { MEMORY } from "./memory.ts";
import { OWNER_RESET } from "./owner-reset.ts";
import { REMOVAL } from "./removal.ts";
import { SEMAPHORES } from "./semaphores.ts";
import { SESSIONS } from "./sessions.ts";
import { TRANSACTIONS } from "./transactions.ts";
import { WATCHES } from "./watches.ts";

export type { Example, GrpcExample, GrpcRefusal, HttpExample, Json, JsonObject } from "./example.ts";

export const EXAMPLES: readonly Example[] = [
  ...FOUNDING,
  ...KEY_VALUE,
  ...LOCKS,
  ...MEMORY,
  ...WATCHES,
  ...CLUSTER,
  ...ADMINISTRATION,
  ...ACCOUNTS,
  ...ACCOUNT_SERVICE,
  ...EVENT_LOGS,
  ...EVENT_LOG_SERVICE,
  ...TRANSACTIONS,
  ...SESSIONS,
  ...SEMAPHORES,
  ...REMOVAL,
  ...HEALTH,
  ...OWNER_RESET,
];
