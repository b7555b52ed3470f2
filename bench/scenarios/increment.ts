/**
 * A counter that all clients increment by one request each, which cannot be too late. A system without such a request
 * compares and swaps, as in the scenario cas.
 */

import type { Keys } from "../clusters/index.ts";
import { closedLoop } from "./closed-loop.ts";
import { CLIENTS, type Raised, Raises, raiseBySwap } from "./counter.ts";
import type { Scenario } from "./scenario.ts";

export const increment: Scenario = {
  name: "increment",
  description: "increments of one hot key (etcd, which has none: compare-and-swap by Txn)",
  concurrency: CLIENTS,
  valueBytesDefault: null,
  isComparable: true,
  createWorkload: () => closedLoop(new Raises("bench/incremented", raise)),
};

async function raise(keys: Keys, counter: string): Promise<Raised> {
  return keys.increment === null
    ? raiseBySwap(keys, counter)
    : { attempts: 1, revision: await keys.increment(counter) };
}
