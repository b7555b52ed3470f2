/**
 * Transactions of always new keys. An operation is a transaction, with the same number of puts at each point: what a
 * put costs in it is its figure divided by that number.
 */

import type { Connection } from "../clusters/index.ts";
import { keysOf } from "./capabilities.ts";
import { type Operations, openLoop } from "./closed-loop.ts";
import { greater } from "./revisions.ts";
import type { Load, Scenario, Workload, WorkloadContext } from "./scenario.ts";

export const transact: Scenario = {
  name: "transact",
  description: "transactions that put always new keys, 16 in flight, 4 from 1,000 puts on (etcd: Txn)",
  concurrency: {
    name: "puts",
    flag: "--puts",
    description: "puts of each transaction, one point each",
    counts: [1, 10, 100, 1000],
  },
  valueBytesDefault: 256,
  isComparable: true,
  createWorkload: (valueBytes) => new Transactions(Buffer.alloc(valueBytes, "v")),
};

const IN_FLIGHT = 16;
/** From this many puts on, fewer transactions are in flight. */
const MANY_PUTS = 1_000;
const IN_FLIGHT_OF_MANY_PUTS = 4;

class Transactions implements Workload {
  readonly #value: Buffer;
  #next = 0;
  /** The greatest revision in an answer so far. */
  revision = 0n;

  constructor(value: Buffer) {
    this.#value = value;
  }

  async prepare(connection: Connection): Promise<void> {
    await this.put(connection, this.nextKeys(1));
  }

  open(context: WorkloadContext, puts: number): Promise<Load> {
    const inFlight = puts < MANY_PUTS ? IN_FLIGHT : IN_FLIGHT_OF_MANY_PUTS;
    return openLoop(context, new TransactionsOfSize(this, puts), inFlight);
  }

  nextKeys(count: number): readonly string[] {
    return Array.from({ length: count }, () => `bench/transact/${this.#next++}`);
  }

  /** Puts these keys in one transaction, and returns its revision. */
  async put(connection: Connection, keys: readonly string[]): Promise<bigint> {
    const revision = await keysOf(connection).transact(keys, this.#value);
    this.revision = greater(revision, this.revision);
    return revision;
  }
}

class TransactionsOfSize implements Operations {
  /** However many puts it has. */
  readonly revisionsPerOperation = 1n;
  readonly attempts = null;
  readonly #workload: Transactions;
  readonly #puts: number;
  #last: { readonly keys: readonly string[]; readonly revision: bigint } = { keys: [], revision: 0n };

  constructor(workload: Transactions, puts: number) {
    this.#workload = workload;
    this.#puts = puts;
  }

  get revision(): bigint {
    return this.#workload.revision;
  }

  async prepare(): Promise<void> {}

  async perform(connection: Connection): Promise<void> {
    const keys = this.#workload.nextKeys(this.#puts);
    this.#last = { keys, revision: await this.#workload.put(connection, keys) };
  }

  /** Reads all keys of one transaction: each was put at its revision. */
  async verify(connection: Connection): Promise<void> {
    const { keys, revision } = this.#last;
    await Promise.all(
      keys.map(async (key) => {
        const { modRevision } = await keysOf(connection).get(key);
        if (modRevision !== revision) {
          throw new Error(`${key} was put at revision ${modRevision}, but its transaction was at ${revision}`);
        }
      }),
    );
  }
}
