/**
 * Keeps so many operations in flight until a bound is reached.
 *
 * The generator shares the machine with what it measures, so it does as little as it can. It retries nothing: a failed
 * operation ends the run with an error, because a figure with errors in it is none.
 */

import type { Connection } from "./clusters/index.ts";
import type { Workload } from "./workload.ts";

/** A run ends with whichever comes first. */
export interface Bounds {
  readonly ms: number;
  readonly operations: number;
}

export interface LoadResult {
  /** In the order of completion. */
  readonly latenciesMs: readonly number[];
  readonly durationMs: number;
}

/**
 * Performs operations until a bound is reached. Each next one takes the next connection, so that all of them, and the
 * members behind them, get the same share. Raises the first error, or the reason of the interruption, when all that was
 * in flight has ended.
 */
export async function runLoad(
  workload: Workload,
  connections: readonly Connection[],
  inFlight: number,
  bounds: Bounds,
  interrupted: AbortSignal,
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  let started = 0;
  let failure: Error | null = null;
  const isOver = (): boolean =>
    started >= bounds.operations ||
    failure !== null ||
    interrupted.aborted ||
    performance.now() - startedMs >= bounds.ms;

  const worker = async (): Promise<void> => {
    while (!isOver()) {
      const connection = connections[started++ % connections.length] as Connection;
      const sentMs = performance.now();
      try {
        await workload.perform(connection);
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(String(error));
        return;
      }
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  interrupted.throwIfAborted();
  if (failure !== null) {
    throw failure;
  }
  return { latenciesMs, durationMs: performance.now() - startedMs };
}
