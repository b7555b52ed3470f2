/** Locks taken and released; each worker has its own, so that no worker waits for another. */

import type { Connection } from "../clusters/index.ts";
import { locksOf } from "./capabilities.ts";
import { closedLoop, type Operations } from "./closed-loop.ts";
import { HoldOrder } from "./hold-order.ts";
import { IN_FLIGHT } from "./in-flight.ts";
import { greater } from "./revisions.ts";
import type { Scenario } from "./scenario.ts";

export const lock: Scenario = {
  name: "lock",
  description: "locks taken and released, each worker its own (etcd: LeaseGrant, Lock, Unlock)",
  concurrency: IN_FLIGHT,
  valueBytesDefault: null,
  isComparable: true,
  createWorkload: () => closedLoop(new LockCycles()),
};

class LockCycles implements Operations {
  /** The grant and the release. */
  readonly revisionsPerOperation = 2n;
  readonly attempts = null;
  /** One for each worker. */
  readonly #orders: HoldOrder[] = [];
  revision = 0n;

  async prepare(connection: Connection, workersMax: number): Promise<void> {
    for (let worker = 0; worker < workersMax; worker++) {
      this.#orders.push(new HoldOrder());
      await locksOf(connection).create(lockOf(worker));
    }
    await this.perform(connection, 0);
  }

  async perform(connection: Connection, worker: number): Promise<void> {
    const { token, release } = await locksOf(connection).acquire(lockOf(worker));
    const revision = await release();
    (this.#orders[worker] as HoldOrder).add(token, revision);
    this.revision = greater(revision, this.revision);
  }

  async verify(): Promise<void> {}
}

function lockOf(worker: number): string {
  return `bench/lock/${worker}`;
}
