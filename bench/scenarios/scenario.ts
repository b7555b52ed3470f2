/**
 * What can be measured. A scenario is a kind of work; its workload does that work at one cluster, in as many runs as are
 * asked for, and knows how to tell that it was really done.
 *
 * A cluster counts its changes in its revision, and answers with it. So the growth of the revision over a run shows
 * whether each acknowledged change took place, and that a read was nothing but a read. What a revision cannot show, each
 * scenario verifies in its own way.
 */

import type { Connection, MeasuredCluster, MeasuredMember } from "../clusters/index.ts";

export interface Scenario {
  /** As it is asked for. */
  readonly name: string;
  /** What it does, for those who choose. */
  readonly description: string;
  readonly concurrency: Concurrency;
  /** Size of each value unless another is asked for; null where that is no choice. */
  readonly valueBytesDefault: number | null;
  /** Whether etcd can do the same. */
  readonly isComparable: boolean;
  /** The work at one cluster; each needs its own, because it counts by itself. */
  createWorkload(valueBytes: number): Workload;
}

/** What the points of a scenario differ in: how many of something there are at once. */
export interface Concurrency {
  /** What there is so many of, such as `in flight`, and its option. */
  readonly name: string;
  readonly flag: string;
  readonly description: string;
  /** The points unless others are asked for. */
  readonly counts: readonly number[];
}

export interface Workload {
  /**
   * Writes what the runs need. To be called once, before them.
   *
   * @param concurrencyMax of the runs that follow.
   */
  prepare(connection: Connection, concurrencyMax: number): Promise<void>;
  /** Makes ready for one run. */
  open(place: Place, concurrency: number): Promise<Load>;
}

/** Where the work is done. */
export interface Place {
  readonly cluster: MeasuredCluster;
  readonly leader: MeasuredMember;
  /** Whom the requests go to, in turn. */
  readonly members: readonly MeasuredMember[];
}

/** One run: a load that is put on the cluster, to warm up, and then to be measured. */
export interface Load {
  /**
   * Loads the cluster until a bound is reached. Raises the first error, what shows that something was not done, or the
   * reason of the interruption. Nothing is retried: a figure with errors in it is none.
   */
  run(bounds: Bounds, interrupted: AbortSignal): Promise<LoadResult>;
  /** Looks at what was left behind, where that takes longer than to be part of a run. Raises an error if it is wrong. */
  verify(): Promise<void>;
  close(): void;
}

/** A load ends with whichever comes first. */
export interface Bounds {
  readonly ms: number;
  readonly operations: number;
}

export interface LoadResult {
  readonly operations: number;
  /** How long the operations took, without what only makes ready for them. */
  readonly durationMs: number;
  /** How long the load took altogether. */
  readonly elapsedMs: number;
  /** What was timed, the most telling first. */
  readonly timings: readonly Timing[];
  /** How often the operations were tried; null where each is done at once. */
  readonly attempts: number | null;
  /** Processor time of a generator in a process of its own, in milliseconds. */
  readonly generatorCpuMs?: number;
}

/** Times of one kind, in the order in which they were taken. */
export interface Timing {
  readonly name: string;
  readonly valuesMs: readonly number[];
}
