/**
 * A counter that all clients increment: each client reads it, and stores one more if no other client has changed it
 * since. A client that is too late reads again and retries. An operation is a successful increment with all its
 * attempts.
 */

import type { Connection } from "../clusters/index.ts";
import { keysOf } from "./capabilities.ts";
import { closedLoop, type Operations } from "./closed-loop.ts";
import { greater } from "./revisions.ts";
import type { Scenario } from "./scenario.ts";

export const cas: Scenario = {
  name: "cas",
  description: "compare-and-swap by revision on one hot key, losers read and retry (etcd: Txn)",
  concurrency: {
    name: "clients",
    flag: "--clients",
    description: "clients that change the key, one point each",
    counts: [1, 16],
  },
  valueBytesDefault: null,
  isComparable: true,
  createWorkload: () => closedLoop(new Raises()),
};

const COUNTER = "bench/counter";

class Raises implements Operations {
  readonly revisionsPerOperation = 1n;
  #done = 0;
  attempts = 0;
  revision = 0n;

  async prepare(connection: Connection): Promise<void> {
    this.revision = await keysOf(connection).put(COUNTER, Buffer.from(String(this.#done)));
  }

  async perform(connection: Connection): Promise<void> {
    for (;;) {
      const { value, modRevision } = await keysOf(connection).get(COUNTER);
      this.attempts++;
      const raised = Number(Buffer.from(value).toString()) + 1;
      const { isDone, revision } = await keysOf(connection).swap(COUNTER, modRevision, Buffer.from(String(raised)));
      this.revision = greater(revision, this.revision);
      if (isDone) {
        this.#done++;
        return;
      }
    }
  }

  /** A lost or repeated increment leads to another count. */
  async verify(connection: Connection): Promise<void> {
    const counted = Buffer.from((await keysOf(connection).get(COUNTER)).value).toString();
    if (counted !== String(this.#done)) {
      throw new Error(`the counter was raised ${this.#done} times, but holds ${counted}`);
    }
  }
}
