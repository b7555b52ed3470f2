/**
 * One lock that passes from waiter to waiter. All waiters queue up behind a holder. Then the holder releases the lock,
 * and each waiter in turn releases it at once. Then the next round begins. An operation is a waiter's turn; it takes
 * from the sending of one release to the arrival of the next grant.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, Hold } from "../clusters/index.ts";
import { locksOf } from "./capabilities.ts";
import { closeAll, connectAll } from "./connections.ts";
import { HoldOrder } from "./hold-order.ts";
import { assertGrown } from "./revisions.ts";
import type { Bounds, Load, LoadResult, Scenario, Workload, WorkloadContext } from "./scenario.ts";

export const handover: Scenario = {
  name: "handover",
  description: "one lock, passed from waiter to waiter without being held (etcd: LeaseGrant, Lock, Unlock)",
  concurrency: {
    name: "waiters",
    flag: "--waiters",
    description: "waiters for the lock, one point each",
    counts: [50],
  },
  valueBytesDefault: null,
  isComparable: true,
  createWorkload: () => new HandOvers(),
};

const LOCK = "bench/handover";
/** The interval of checks whether all waiters are queued; this time is not measured. */
const POLL_MS = 5;
const QUEUE_TIMEOUT_MS = 60_000;
/** The grant and the release. */
const REVISIONS_PER_HOLD = 2;

class HandOvers implements Workload {
  readonly #order = new HoldOrder();
  /** The revision after the last release. */
  #revision = 0n;

  async prepare(connection: Connection): Promise<void> {
    const locks = locksOf(connection);
    await locks.create(LOCK);
    const hold = await locks.acquire(LOCK);
    this.judge([{ token: hold.token, releasedAt: await hold.release() }]);
  }

  async open(context: WorkloadContext, waiters: number): Promise<Load> {
    return new Rounds(this, await connectAll(context, waiters), waiters);
  }

  /**
   * Checks that these holds, in the order of their grants, were the only ones since the last call. Raises an error if
   * not.
   */
  judge(holds: readonly EndedHold[]): void {
    for (const { token, releasedAt } of holds) {
      this.#order.add(token, releasedAt);
    }
    const revision = holds.at(-1)?.releasedAt ?? this.#revision;
    if (this.#revision > 0n) {
      assertGrown(holds.length, revision - this.#revision, BigInt(holds.length * REVISIONS_PER_HOLD));
    }
    this.#revision = revision;
  }
}

interface EndedHold {
  readonly token: bigint;
  readonly releasedAt: bigint;
}

class Rounds implements Load {
  readonly #workload: HandOvers;
  readonly #connections: readonly Connection[];
  readonly #waiters: number;

  constructor(workload: HandOvers, connections: readonly Connection[], waiters: number) {
    this.#workload = workload;
    this.#connections = connections;
    this.#waiters = waiters;
  }

  async run(bounds: Bounds, interrupted: AbortSignal): Promise<LoadResult> {
    const startedMs = performance.now();
    const valuesMs: number[] = [];
    do {
      interrupted.throwIfAborted();
      valuesMs.push(...(await this.#round()));
    } while (valuesMs.length < bounds.operations && performance.now() - startedMs < bounds.ms);
    return {
      operations: valuesMs.length,
      // One begins where the other ends.
      durationMs: valuesMs.reduce((sum, valueMs) => sum + valueMs, 0),
      elapsedMs: performance.now() - startedMs,
      timings: [{ name: "hand-over", valuesMs }],
      attempts: null,
    };
  }

  async verify(): Promise<void> {}

  close(): void {
    closeAll(this.#connections);
  }

  /** The times from each release to the grant that followed it. */
  async #round(): Promise<number[]> {
    const first = this.#connections[0] as Connection;
    const round = new Round();
    const holder = await locksOf(first).acquire(LOCK);
    const turns = Promise.all(
      Array.from({ length: this.#waiters }, async (_, waiter) => {
        const connection = this.#connections[waiter % this.#connections.length] as Connection;
        const hold = await locksOf(connection).acquire(LOCK);
        round.granted();
        await round.end(hold);
      }),
    );
    const looking = new AbortController();
    try {
      await Promise.race([this.#untilQueued(first, looking.signal), turns]);
    } finally {
      looking.abort();
    }
    await Promise.all([round.end(holder), turns]);
    this.#workload.judge(round.holds);
    return round.valuesMs;
  }

  /** Resolves when all waiters are queued, or when `signal` aborts the wait. */
  async #untilQueued(connection: Connection, signal: AbortSignal): Promise<void> {
    const deadlineMs = performance.now() + QUEUE_TIMEOUT_MS;
    while (!signal.aborted) {
      const queued = await locksOf(connection).countWaiters(LOCK);
      if (queued === this.#waiters) {
        return;
      }
      if (performance.now() > deadlineMs) {
        throw new Error(`${queued} of ${this.#waiters} waiters are queued after ${QUEUE_TIMEOUT_MS} ms`);
      }
      await sleep(POLL_MS);
    }
  }
}

/** The events of the lock from the first release on. */
class Round {
  readonly valuesMs: number[] = [];
  readonly #ended: { readonly token: bigint; releasedAt: bigint }[] = [];
  /** The time at which the last release was sent; null before the first. */
  #releasedMs: number | null = null;

  /** In the order of their grants. */
  get holds(): readonly EndedHold[] {
    return this.#ended;
  }

  /** A waiter has the lock. */
  granted(): void {
    if (this.#releasedMs === null) {
      throw new Error("a waiter was granted the lock while it was held");
    }
    this.valuesMs.push(performance.now() - this.#releasedMs);
  }

  async end(hold: Hold): Promise<void> {
    const ended = { token: hold.token, releasedAt: 0n };
    this.#ended.push(ended);
    this.#releasedMs = performance.now();
    ended.releasedAt = await hold.release();
  }
}
