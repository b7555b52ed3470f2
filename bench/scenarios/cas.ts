/**
 * A counter that all clients increment: each client reads it, and stores one more if no other client has changed it
 * since. A client that is too late reads again and retries. An operation is a successful increment with all its
 * attempts.
 */

import { closedLoop } from "./closed-loop.ts";
import { CLIENTS, Raises, raiseBySwap } from "./counter.ts";
import type { Scenario } from "./scenario.ts";

export const cas: Scenario = {
  name: "cas",
  description: "compare-and-swap by revision on one hot key, losers read and retry (etcd: Txn)",
  concurrency: CLIENTS,
  valueBytesDefault: null,
  isComparable: true,
  createWorkload: () => closedLoop(new Raises("bench/counter", raiseBySwap)),
};
