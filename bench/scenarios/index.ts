/** The scenarios to measure, and the description of their runs. */

import { cas } from "./cas.ts";
import { append, appendBatch, appendByHttp, appendKeyed, tail } from "./event-logs.ts";
import { get } from "./get.ts";
import { handover } from "./handover.ts";
import { increment } from "./increment.ts";
import { keepAlive } from "./keep-alive.ts";
import { lock } from "./lock.ts";
import { memory } from "./memory.ts";
import { put } from "./put.ts";
import type { Scenario } from "./scenario.ts";
import { session } from "./session.ts";
import { transact } from "./transact.ts";
import { watch } from "./watch.ts";

export { keysOf } from "./capabilities.ts";
export { byGo, GO_SCENARIOS } from "./go-load.ts";
export type { Bounds, LoadResult, Scenario, Workload } from "./scenario.ts";

export const scenarios: readonly Scenario[] = [
  ...[put, get, lock, handover, cas, memory, watch],
  ...[transact, increment, session, keepAlive],
  ...[append, appendKeyed, appendByHttp, appendBatch, tail],
];
