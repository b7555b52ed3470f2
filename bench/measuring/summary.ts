/** The results of one point: the figures of each system over all its runs, and their ratios. */

import type { Run } from "./measure.ts";
import { percentile } from "./percentile.ts";

/** The figures of one system at one concurrency. Null if this machine does not report them. */
export interface Point {
  readonly system: string;
  readonly concurrency: number;
  readonly runs: number;
  readonly operations: number;
  readonly perSecond: number;
  /** The same kinds at every point of a scenario, the most important first. */
  readonly timings: readonly PointTiming[];
  /** Null if each operation needs one attempt. */
  readonly attemptsPerOperation: number | null;
  /** CPU seconds per 1,000 operations: of all members together, and of the generator. */
  readonly memberCpuSecondsPer1000: number | null;
  readonly generatorCpuSecondsPer1000: number;
  /** CPU time of the leader's main thread for one operation; null for a system without event loops as well. */
  readonly leaderMainMicrosPerOperation: number | null;
  /** Share of one CPU that the generator used, in per cent. Near 100 the generator limits the figures. */
  readonly generatorCpuPercent: number;
  /** Maximum resident memory of the largest member so far. */
  readonly memoryMiBMax: number | null;
  /** Largest delay of each member's event loop; null for a system without event loops. */
  readonly memberLoopDelayMs: readonly number[] | null;
  readonly elections: number;
}

export interface PointTiming {
  readonly name: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** One system's figure divided by the other's. Throughput is better above 1, everything else below. */
export interface Ratio {
  readonly concurrency: number;
  readonly perSecond: number | null;
  readonly timings: readonly RatioTiming[];
  readonly attempts: number | null;
  readonly memberCpu: number | null;
  readonly leaderMain: number | null;
  readonly memory: number | null;
}

export interface RatioTiming {
  readonly name: string;
  readonly p50: number | null;
  readonly p99: number | null;
}

const MS_PER_SECOND = 1000;
const MICROS_PER_MS = 1000;
const BYTES_PER_MIB = 1024 * 1024;

/**
 * The order in which systems are measured: A B B A, so that both share effects that grow over time. A single system is
 * measured once.
 */
export function interleave<T>(systems: readonly T[]): T[] {
  return systems.length === 1 ? [...systems] : [...systems, ...systems.toReversed()];
}

/** The figures of all these runs of one system: percentiles over all their operations. There must be at least one. */
export function summarize(runs: readonly [Run, ...Run[]]): Point {
  const [{ system, concurrency, timings }] = runs;
  const operations = sum(runs.map((run) => run.operations));
  const memberCpuMs = runs.map(({ memberCpuMs: each }) => each && sum(each)).filter((ms) => ms !== null);
  const memoryBytes = runs.flatMap(({ memberMemoryBytesMax: each }) => each ?? []);
  const leaderMainMs = runs.map(({ leaderMainCpuMs }) => leaderMainCpuMs).filter((ms) => ms !== null);
  const attempts = runs.map((run) => run.attempts).filter((count) => count !== null);
  const generatorCpuMs = sum(runs.map((run) => run.generatorCpuMs));
  // Milliseconds per operation equal seconds per 1,000 operations.
  return {
    system,
    concurrency,
    runs: runs.length,
    operations,
    perSecond: operations / (sum(runs.map((run) => run.durationMs)) / MS_PER_SECOND),
    timings: timings.map(({ name }, at) => summarizeTiming(name, runs, at)),
    attemptsPerOperation: attempts.length === runs.length ? sum(attempts) / operations : null,
    memberCpuSecondsPer1000: memberCpuMs.length === runs.length ? sum(memberCpuMs) / operations : null,
    generatorCpuSecondsPer1000: generatorCpuMs / operations,
    leaderMainMicrosPerOperation:
      leaderMainMs.length === runs.length ? (sum(leaderMainMs) / operations) * MICROS_PER_MS : null,
    generatorCpuPercent: (generatorCpuMs / sum(runs.map((run) => run.elapsedMs))) * 100,
    memoryMiBMax: memoryBytes.length > 0 ? Math.max(...memoryBytes) / BYTES_PER_MIB : null,
    memberLoopDelayMs: largestOfEach(runs.map(({ memberLoopDelayMs }) => memberLoopDelayMs)),
    elections: sum(runs.map((run) => run.elections)),
  };
}

function summarizeTiming(name: string, runs: readonly Run[], at: number): PointTiming {
  const parts = runs.map(({ timings }) => timings[at]?.valuesMs ?? new Float64Array(0));
  const valuesMs = new Float64Array(sum(parts.map(({ length }) => length)));
  let filled = 0;
  for (const part of parts) {
    valuesMs.set(part, filled);
    filled += part.length;
  }
  valuesMs.sort();
  return {
    name,
    p50Ms: percentile(valuesMs, 50),
    p99Ms: percentile(valuesMs, 99),
    maxMs: percentile(valuesMs, 100),
  };
}

/** For each member, the largest of its figures; null if any is unknown. */
function largestOfEach(figures: readonly (readonly number[] | null)[]): readonly number[] | null {
  return figures.reduce((largest, each) =>
    largest === null || each === null ? null : largest.map((value, at) => Math.max(value, each[at] ?? value)),
  );
}

/** The first point's figures divided by the second's; null if either is unknown, or the second is not above 0. */
export function compare(ours: Point, theirs: Point): Ratio {
  return {
    concurrency: ours.concurrency,
    perSecond: quotient(ours.perSecond, theirs.perSecond),
    timings: ours.timings.map(({ name, p50Ms, p99Ms }, at) => ({
      name,
      p50: quotient(p50Ms, theirs.timings[at]?.p50Ms ?? null),
      p99: quotient(p99Ms, theirs.timings[at]?.p99Ms ?? null),
    })),
    attempts: quotient(ours.attemptsPerOperation, theirs.attemptsPerOperation),
    memberCpu: quotient(ours.memberCpuSecondsPer1000, theirs.memberCpuSecondsPer1000),
    leaderMain: quotient(ours.leaderMainMicrosPerOperation, theirs.leaderMainMicrosPerOperation),
    memory: quotient(ours.memoryMiBMax, theirs.memoryMiBMax),
  };
}

/** A time from the answer to an arrival may be below 0; then a ratio has no meaning. */
function quotient(dividend: number | null, divisor: number | null): number | null {
  return dividend === null || divisor === null || dividend < 0 || divisor <= 0 ? null : dividend / divisor;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
