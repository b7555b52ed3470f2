/** What the runs of one point come to: the figures of each system over all its runs, and their ratios. */

import type { Run } from "./measure.ts";
import { percentile } from "./percentile.ts";

/** The figures of one system at one number of requests in flight. Null where this machine does not tell. */
export interface Point {
  readonly system: string;
  readonly inFlight: number;
  readonly runs: number;
  readonly operations: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU seconds per 1,000 operations: of all members together, and of the generator. */
  readonly memberCpuSecondsPer1000: number | null;
  readonly generatorCpuSecondsPer1000: number;
  /** Share of one CPU that the generator took, in per cent. Near 100 it is the generator that is measured. */
  readonly generatorCpuPercent: number;
  /** Most memory that the largest member ever had resident, so far. */
  readonly memoryMiBMax: number | null;
}

/** One system's figure divided by the other's. Throughput is better above 1, everything else below. */
export interface Ratio {
  readonly inFlight: number;
  readonly perSecond: number | null;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly memberCpu: number | null;
  readonly memory: number | null;
}

const MS_PER_SECOND = 1000;
const BYTES_PER_MIB = 1024 * 1024;

/**
 * The order in which systems are measured: A B B A, so that whatever grows or wears out over time is shared. One by
 * itself is measured once.
 */
export function interleave<T>(systems: readonly T[]): T[] {
  return systems.length === 1 ? [...systems] : [...systems, ...systems.toReversed()];
}

/** The figures of all these runs of one system: percentiles over all their operations. There must be one at least. */
export function summarize(runs: readonly [Run, ...Run[]]): Point {
  const [{ system, inFlight }] = runs;
  const operations = sum(runs.map((run) => run.operations));
  const durationMs = sum(runs.map((run) => run.durationMs));
  const latenciesMs = Float64Array.from(runs.flatMap((run) => [...run.latenciesMs])).sort();
  const memberCpuMs = runs.map(({ memberCpuMs: each }) => each && sum(each)).filter((ms) => ms !== null);
  const memoryBytes = runs.flatMap(({ memberMemoryBytesMax: each }) => each ?? []);
  const generatorCpuMs = sum(runs.map((run) => run.generatorCpuMs));
  // Milliseconds an operation are seconds per 1,000 operations.
  return {
    system,
    inFlight,
    runs: runs.length,
    operations,
    perSecond: operations / (durationMs / MS_PER_SECOND),
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
    maxMs: percentile(latenciesMs, 100),
    memberCpuSecondsPer1000: memberCpuMs.length === runs.length ? sum(memberCpuMs) / operations : null,
    generatorCpuSecondsPer1000: generatorCpuMs / operations,
    generatorCpuPercent: (generatorCpuMs / durationMs) * 100,
    memoryMiBMax: memoryBytes.length > 0 ? Math.max(...memoryBytes) / BYTES_PER_MIB : null,
  };
}

/** The first point's figures divided by the second's; null where either is unknown, or the second is 0. */
export function compare(ours: Point, theirs: Point): Ratio {
  return {
    inFlight: ours.inFlight,
    perSecond: quotient(ours.perSecond, theirs.perSecond),
    p50: quotient(ours.p50Ms, theirs.p50Ms),
    p99: quotient(ours.p99Ms, theirs.p99Ms),
    memberCpu: quotient(ours.memberCpuSecondsPer1000, theirs.memberCpuSecondsPer1000),
    memory: quotient(ours.memoryMiBMax, theirs.memoryMiBMax),
  };
}

function quotient(dividend: number | null, divisor: number | null): number | null {
  return dividend === null || divisor === null || divisor === 0 ? null : dividend / divisor;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
