/**
 * Keeps a number of operations in flight until a bound is reached. Each of them has a worker, which starts the next
 * operation when the last one is done.
 *
 * The generator shares the machine with the measured system, so it does as little as possible.
 */

import type { Connection } from "../clusters/index.ts";
import { closeAll, connectAll } from "./connections.ts";
import { assertGrown } from "./revisions.ts";
import type { Bounds, Load, LoadResult, Workload, WorkloadContext } from "./scenario.ts";

/** Operations of one kind. */
export interface Operations {
  /** By how much one operation raises the revision. */
  readonly revisionsPerOperation: bigint;
  /** The greatest revision in an answer so far. */
  readonly revision: bigint;
  /** Number of attempts so far; null if each operation needs one. */
  readonly attempts: number | null;
  /** How many operations `perform` does at once; 1 by default. */
  readonly atOnce?: number;
  /** Whether each worker keeps one connection; by default, an operation takes the next one. */
  readonly keepsConnection?: boolean;
  /** Writes the data that the operations need, which also reveals the revision. */
  prepare(connection: Connection, workersMax: number): Promise<void>;
  /** Performs `atOnce` operations of the worker with that number. Raises an error if one fails or an answer is wrong. */
  perform(connection: Connection, worker: number): Promise<void>;
  /** Checks the results of the operations. Raises an error if they are not as expected. */
  verify(connection: Connection): Promise<void>;
}

/** The work of these operations, with one worker for each operation in flight. */
export function closedLoop(operations: Operations): Workload {
  return {
    prepare: (connection, workersMax) => operations.prepare(connection, workersMax),
    open: (context, workers) => openLoop(context, operations, workers),
  };
}

/** A run of these operations with this many workers. */
export async function openLoop(context: WorkloadContext, operations: Operations, workers: number): Promise<Load> {
  return new ClosedLoop(operations, await connectAll(context, workers), workers);
}

class ClosedLoop implements Load {
  readonly #operations: Operations;
  readonly #connections: readonly Connection[];
  readonly #workers: number;

  constructor(operations: Operations, connections: readonly Connection[], workers: number) {
    this.#operations = operations;
    this.#connections = connections;
    this.#workers = workers;
  }

  async run(bounds: Bounds, interrupted: AbortSignal): Promise<LoadResult> {
    const { revision, attempts } = this.#operations;
    const startedMs = performance.now();
    const latenciesMs = await this.#performAll(bounds, interrupted);
    const durationMs = performance.now() - startedMs;
    const operations = latenciesMs.length * this.#atOnce;
    const expected = BigInt(operations) * this.#operations.revisionsPerOperation;
    assertGrown(operations, this.#operations.revision - revision, expected);
    return {
      operations,
      durationMs,
      elapsedMs: durationMs,
      timings: [{ name: "latency", valuesMs: latenciesMs }],
      attempts: this.#operations.attempts === null ? null : this.#operations.attempts - (attempts ?? 0),
    };
  }

  verify(): Promise<void> {
    return this.#operations.verify(this.#connections[0] as Connection);
  }

  close(): void {
    closeAll(this.#connections);
  }

  get #atOnce(): number {
    return this.#operations.atOnce ?? 1;
  }

  /**
   * The latencies of the operations, in the order of their ends; those that are performed at once have one. Each
   * operation takes the next connection, so that all connections, and the members behind them, get the same share. An
   * error is raised when everything in flight has ended.
   */
  async #performAll(bounds: Bounds, interrupted: AbortSignal): Promise<number[]> {
    const latenciesMs: number[] = [];
    const startedMs = performance.now();
    let started = 0;
    let failure: Error | null = null;
    const isOver = (): boolean =>
      started * this.#atOnce >= bounds.operations ||
      failure !== null ||
      interrupted.aborted ||
      performance.now() - startedMs >= bounds.ms;

    const work = async (worker: number): Promise<void> => {
      while (!isOver()) {
        const turn = this.#operations.keepsConnection === true ? worker : started;
        const connection = this.#connections[turn % this.#connections.length] as Connection;
        started++;
        const sentMs = performance.now();
        try {
          await this.#operations.perform(connection, worker);
        } catch (error) {
          failure ??= error instanceof Error ? error : new Error(String(error));
          return;
        }
        latenciesMs.push(performance.now() - sentMs);
      }
    };
    await Promise.all(Array.from({ length: this.#workers }, (_, worker) => work(worker)));
    interrupted.throwIfAborted();
    if (failure !== null) {
      throw failure;
    }
    return latenciesMs;
  }
}
