/** What has changed between the second sixth of a load and the last one. In the first sixth, everything is new. */

import { percentile } from "../measuring/index.ts";
import type { MemberSample } from "../members/index.ts";
import { comparedSixth, hoursBetween, type KindTotals } from "./call-totals.ts";
import type { SoakSample } from "./samples.ts";

/** A figure in both sixths, and its growth in an hour; null = not known. */
export interface Trend {
  readonly name: string;
  readonly second: number | null;
  readonly last: number | null;
  readonly perHour: number | null;
}

/** The trends of one process. */
export interface ProcessTrends {
  /** Position of the member; null = the clients. */
  readonly at: number | null;
  readonly trends: readonly Trend[];
}

/** One kind of call. Times are those of calls without a fault, in milliseconds, except for the longest. */
export interface CallTrend {
  readonly kind: string;
  readonly count: number;
  /** Attempts that failed during faults. */
  readonly failed: number;
  readonly p50: Trend;
  readonly p99: Trend;
  /** The longest one of all. */
  readonly maxMs: number;
}

const BYTES_PER_MIB = 1_024 * 1_024;

/** The figures of a member, by name. */
const MEMBER_FIGURES: Readonly<Record<string, (sample: MemberSample) => number>> = {
  "resident MiB": ({ residentBytes }) => residentBytes / BYTES_PER_MIB,
  "heap MiB": ({ heapBytes }) => heapBytes / BYTES_PER_MIB,
  descriptors: ({ descriptors }) => descriptors,
  threads: ({ threads }) => threads,
  "log MiB": ({ logBytes }) => logBytes / BYTES_PER_MIB,
  "state MiB": ({ stateBytes }) => stateBytes / BYTES_PER_MIB,
  "loop delay ms": ({ loopDelayMs }) => loopDelayMs,
};

/** The medians of all figures of each process in both sixths of this many seconds. */
export function processTrends(samples: readonly SoakSample[], seconds: number): readonly ProcessTrends[] {
  const [second, last] = ([0, 1] as const).map((sixth) => {
    return samples.filter(({ atSeconds }) => comparedSixth(atSeconds, seconds) === sixth);
  }) as [SoakSample[], SoakSample[]];
  const trend = (name: string, valuesOf: (sixth: readonly SoakSample[]) => readonly number[]): Trend =>
    trendOf(name, median(valuesOf(second)), median(valuesOf(last)), seconds);
  const count = samples[0]?.members.length ?? 0;
  const members = Array.from({ length: count }, (_, at): ProcessTrends => {
    const figures = Object.entries(MEMBER_FIGURES).map(([name, figureOf]) => {
      return trend(name, (sixth) => sixth.flatMap(({ members: each }) => (each[at] ? figureOf(each[at]) : [])));
    });
    return { at, trends: [...figures, trend("CPU ms/s", (sixth) => cpuRatesOf(sixth, at))] };
  });
  const clients = trend("resident MiB", (sixth) => sixth.map((one) => one.clients.residentBytes / BYTES_PER_MIB));
  return [...members, { at: null, trends: [clients] }];
}

/** The times of each kind of call in both sixths of this many seconds. */
export function callTrends(byKind: ReadonlyMap<string, KindTotals>, seconds: number): readonly CallTrend[] {
  const kinds = [...byKind].sort(([one], [other]) => (one < other ? -1 : 1));
  return kinds.map(([kind, { count, failed, maxMs, sixths }]) => {
    const [second, last] = sixths.map((timesMs) => Float64Array.from(timesMs).sort()) as [Float64Array, Float64Array];
    const trend = (name: string, percent: number): Trend => {
      return trendOf(name, percentileOf(second, percent), percentileOf(last, percent), seconds);
    };
    return { kind, count, failed, p50: trend("p50 ms", 50), p99: trend("p99 ms", 99), maxMs };
  });
}

/** Processor time between consecutive samples of the same process, in milliseconds a second. */
function cpuRatesOf(samples: readonly SoakSample[], at: number): number[] {
  return samples.slice(1).flatMap((sample, before) => {
    const [was, is] = [samples[before]?.members[at], sample.members[at]];
    const tookSeconds = sample.atSeconds - (samples[before]?.atSeconds ?? 0);
    return was && is && is.cpuMs >= was.cpuMs ? [(is.cpuMs - was.cpuMs) / tookSeconds] : [];
  });
}

function trendOf(name: string, second: number | null, last: number | null, seconds: number): Trend {
  return {
    name,
    second,
    last,
    perHour: second === null || last === null ? null : (last - second) / hoursBetween(seconds),
  };
}

function median(values: readonly number[]): number | null {
  const ascending = values.toSorted((one, other) => one - other);
  return ascending[Math.floor((ascending.length - 1) / 2)] ?? null;
}

/** Null without values, which ascend. */
function percentileOf(values: Float64Array, percent: number): number | null {
  return values.length === 0 ? null : percentile(values, percent);
}
