/**
 * One put at a time, delivered to all watchers of its prefix, which are spread over all members. The next put is sent
 * when the last one was answered and has arrived everywhere. So this measures the delivery of one change, without a
 * queue of changes. An operation is a put with all its deliveries.
 */

import type { Connection, WatchConnection } from "../clusters/index.ts";
import { keysOf } from "./capabilities.ts";
import { closeAll, connectAll } from "./connections.ts";
import { type Delivered, Deliveries } from "./deliveries.ts";
import { assertGrown, greater } from "./revisions.ts";
import type { Bounds, Load, LoadResult, Scenario, Workload, WorkloadContext } from "./scenario.ts";

export const watch: Scenario = {
  name: "watch",
  description: "one put at a time, delivered to all watchers of its prefix, which are spread over all members",
  concurrency: {
    name: "watchers",
    flag: "--watchers",
    description: "watchers of the prefix, one point each",
    counts: [1, 100, 1000],
  },
  valueBytesDefault: 256,
  isComparable: true,
  createWorkload: (valueBytes) => new WatchedPuts(Buffer.alloc(valueBytes, "v")),
};

const PREFIX = "bench/watch/";
/** A real process has a few watches, not a thousand. */
const WATCHES_PER_CONNECTION = 10;
/** Many times the duration of a delivery on a busy machine. */
const DELIVERY_TIMEOUT_MS = 60_000;
/** Puts that are sent at once at the end of the run, to check that they arrive in order, and only once. */
const LAST_PUTS = 32;

class WatchedPuts implements Workload {
  readonly #value: Buffer;
  #next = 0;
  /** The greatest revision in an answer so far. */
  revision = 0n;

  constructor(value: Buffer) {
    this.#value = value;
  }

  async prepare(connection: Connection): Promise<void> {
    await this.put(connection, this.nextKey());
  }

  async open(context: WorkloadContext, watchers: number): Promise<Load> {
    const connections = await connectAll(context, 1);
    const watches: WatchConnection[] = [];
    const deliveries = new Deliveries(watchers);
    const { cluster, leader } = context;
    // A single watcher is at a follower, like most watchers of a cluster.
    const members = [...cluster.members.filter((member) => member !== leader), leader];
    try {
      const perMember = Math.ceil(watchers / WATCHES_PER_CONNECTION / members.length);
      for (let count = 0; count < perMember; count++) {
        for (const member of members) {
          watches.push(await cluster.connectWatches(member));
        }
      }
      await Promise.all(
        Array.from({ length: watchers }, (_, watcher) =>
          (watches[watcher % watches.length] as WatchConnection).watch(PREFIX, {
            onPuts: (puts) => deliveries.onDelivered(watcher, puts, performance.now()),
            onFailed: (error) => deliveries.fail(error),
          }),
        ),
      );
    } catch (error) {
      closeAll([...connections, ...watches]);
      throw error;
    }
    return new FanOut(this, deliveries, connections, watches);
  }

  nextKey(): string {
    return `${PREFIX}${this.#next++}`;
  }

  /** Puts the key and returns the revision. */
  async put(connection: Connection, key: string): Promise<bigint> {
    const revision = await keysOf(connection).put(key, this.#value);
    this.revision = greater(revision, this.revision);
    return revision;
  }
}

/** A put that has arrived everywhere. */
interface DeliveredPut {
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly delivered: Delivered;
}

class FanOut implements Load {
  readonly #workload: WatchedPuts;
  readonly #deliveries: Deliveries;
  readonly #connections: readonly Connection[];
  readonly #watches: readonly WatchConnection[];
  #puts = 0;

  constructor(
    workload: WatchedPuts,
    deliveries: Deliveries,
    connections: readonly Connection[],
    watches: readonly WatchConnection[],
  ) {
    this.#workload = workload;
    this.#deliveries = deliveries;
    this.#connections = connections;
    this.#watches = watches;
  }

  async run(bounds: Bounds, interrupted: AbortSignal): Promise<LoadResult> {
    interrupted.throwIfAborted();
    const interrupt = (): void => this.#deliveries.fail(interrupted.reason);
    interrupted.addEventListener("abort", interrupt);
    try {
      return await this.#run(bounds);
    } finally {
      interrupted.removeEventListener("abort", interrupt);
    }
  }

  /** Sends a number of puts at once, which must arrive in order, and after everything before. */
  async verify(): Promise<void> {
    await Promise.all(Array.from({ length: LAST_PUTS }, () => this.#deliver()));
  }

  close(): void {
    closeAll([...this.#connections, ...this.#watches]);
  }

  async #run(bounds: Bounds): Promise<LoadResult> {
    const fromSendingMs: number[] = [];
    const fromAnswerMs: number[] = [];
    const { revision } = this.#workload;
    const startedMs = performance.now();
    let operations = 0;
    do {
      const { sentMs, answeredMs, delivered } = await this.#deliver();
      operations++;
      for (const arrivedMs of delivered.arrivedMs) {
        fromSendingMs.push(arrivedMs - sentMs);
        fromAnswerMs.push(arrivedMs - answeredMs);
      }
    } while (operations < bounds.operations && performance.now() - startedMs < bounds.ms);
    const durationMs = performance.now() - startedMs;
    assertGrown(operations, this.#workload.revision - revision, BigInt(operations));
    return {
      operations,
      durationMs,
      elapsedMs: durationMs,
      timings: [
        { name: "from sending", valuesMs: fromSendingMs },
        { name: "from answer", valuesMs: fromAnswerMs },
      ],
      attempts: null,
    };
  }

  async #deliver(): Promise<DeliveredPut> {
    const key = this.#workload.nextKey();
    const connection = this.#connections[this.#puts++ % this.#connections.length] as Connection;
    const timeout = setTimeout(() => this.#failOnTimeout(), DELIVERY_TIMEOUT_MS);
    try {
      const arrives = this.#deliveries.expect(key);
      const sentMs = performance.now();
      const answers = this.#workload.put(connection, key).then((revision) => ({ revision, atMs: performance.now() }));
      const [delivered, answer] = await Promise.all([arrives, answers]);
      if (delivered.revision !== answer.revision) {
        throw new Error(`${key} was put at revision ${answer.revision}, but watchers received ${delivered.revision}`);
      }
      return { sentMs, answeredMs: answer.atMs, delivered };
    } finally {
      clearTimeout(timeout);
    }
  }

  #failOnTimeout(): void {
    const missing = this.#deliveries.describeMissing();
    this.#deliveries.fail(new Error(`after ${DELIVERY_TIMEOUT_MS} ms, ${missing}`));
  }
}
