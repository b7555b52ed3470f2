/**
 * The interface of scenarios. A scenario is a kind of work. Its workload does that work on one cluster, in any number
 * of runs, and can verify that it was really done.
 *
 * A cluster counts its changes in its revision, and returns it in answers. So the growth of the revision over a run
 * shows whether each acknowledged change took place, and that a read changed nothing. Each scenario verifies in its own
 * way what a revision cannot show.
 */

import type { Connection, MeasuredCluster, MeasuredMember } from "../clusters/index.ts";

export interface Scenario {
  /** The name in the command line. */
  readonly name: string;
  /** A description for users. */
  readonly description: string;
  readonly concurrency: Concurrency;
  /** Default size of each value; null if the size is not an option. */
  readonly valueBytesDefault: number | null;
  /** Whether etcd supports the same. */
  readonly isComparable: boolean;
  /** The work on one cluster; each cluster needs its own workload, which keeps its own counts. */
  createWorkload(valueBytes: number): Workload;
}

/** The difference between the points of a scenario: how many of something exist at once. */
export interface Concurrency {
  /** The quantity that varies, such as `in flight`, and its option. */
  readonly name: string;
  readonly flag: string;
  readonly description: string;
  /** The default points. */
  readonly counts: readonly number[];
}

export interface Workload {
  /**
   * Writes the data that the runs need. Call it once, before them.
   *
   * @param concurrencyMax of the runs that follow.
   */
  prepare(connection: Connection, concurrencyMax: number): Promise<void>;
  /** Prepares one run. */
  open(context: WorkloadContext, concurrency: number): Promise<Load>;
}

/** The place of the work. */
export interface WorkloadContext {
  readonly cluster: MeasuredCluster;
  readonly leader: MeasuredMember;
  /** The members that get the requests, in turn. */
  readonly members: readonly MeasuredMember[];
}

/** One run: a load on the cluster, first for the warm-up and then for the measurement. */
export interface Load {
  /**
   * Loads the cluster until a bound is reached. Raises the first error, an error if some work was not done, or the
   * reason of the interruption. It retries nothing, because a figure with errors in it is worthless.
   */
  run(bounds: Bounds, interrupted: AbortSignal): Promise<LoadResult>;
  /** Checks the results, if that takes too long for a run. Raises an error if they are wrong. */
  verify(): Promise<void>;
  close(): void;
}

/** A load ends with the first of these. */
export interface Bounds {
  readonly ms: number;
  readonly operations: number;
}

export interface LoadResult {
  readonly operations: number;
  /** Duration of the operations, without their preparation. */
  readonly durationMs: number;
  /** Duration of the whole load. */
  readonly elapsedMs: number;
  /** The measured times, the most important first. */
  readonly timings: readonly Timing[];
  /** Number of attempts; null if each operation needs one. */
  readonly attempts: number | null;
  /** Processor time of a generator in a separate process, in milliseconds. */
  readonly generatorCpuMs?: number;
}

/** Times of one kind, in the order of measurement. */
export interface Timing {
  readonly name: string;
  readonly valuesMs: readonly number[];
}
