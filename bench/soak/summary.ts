/** What has changed between the second sixth of a load and the last one. In the first sixth, everything is new. */

import type { MemberSample } from "../members/index.ts";
import type { CallTime } from "./pace/index.ts";
import { callsOf, type SoakSample } from "./samples.ts";

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

const SIXTHS = 6;
const SECONDS_PER_HOUR = 3_600;
const MS_PER_SECOND = 1_000;
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
  const [second, last] = sixthsOf(samples, ({ atSeconds }) => atSeconds, seconds);
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

/** The times of each kind of call in both sixths. They have begun at `startMs`, on the clock of the calls. */
export function callTrends(times: readonly CallTime[], startMs: number, seconds: number): readonly CallTrend[] {
  const byKind = Map.groupBy(times, ({ kind }) => kind);
  const kinds = [...byKind].sort(([one], [other]) => (one < other ? -1 : 1));
  return kinds.map(([kind, ofKind]) => {
    const quiet = ofKind.filter(({ isDisturbed }) => !isDisturbed);
    const sixths = sixthsOf(quiet, ({ answeredMs }) => (answeredMs - startMs) / MS_PER_SECOND, seconds);
    const [second, last] = sixths.map((sixth) => callsOf(sixth)[kind] ?? null);
    return {
      kind,
      count: ofKind.length,
      failed: ofKind.reduce((sum, { failed }) => sum + failed, 0),
      p50: trendOf("p50 ms", second?.p50Ms ?? null, last?.p50Ms ?? null, seconds),
      p99: trendOf("p99 ms", second?.p99Ms ?? null, last?.p99Ms ?? null, seconds),
      maxMs: ofKind.reduce((longest, { tookMs }) => Math.max(longest, tookMs), 0),
    };
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

/** What belongs to the second sixth, and to the last one. */
function sixthsOf<Value>(
  values: readonly Value[],
  atSecondsOf: (value: Value) => number,
  seconds: number,
): [Value[], Value[]] {
  const inSixth = (sixth: number) => (value: Value) => {
    const at = (atSecondsOf(value) / seconds) * SIXTHS;
    return at >= sixth && at < sixth + 1;
  };
  return [values.filter(inSixth(1)), values.filter(inSixth(SIXTHS - 1))];
}

function trendOf(name: string, second: number | null, last: number | null, seconds: number): Trend {
  // From the middle of one sixth to that of the other.
  const hours = (seconds * (SIXTHS - 2)) / SIXTHS / SECONDS_PER_HOUR;
  return { name, second, last, perHour: second === null || last === null ? null : (last - second) / hours };
}

function median(values: readonly number[]): number | null {
  const ascending = values.toSorted((one, other) => one - other);
  return ascending[Math.floor((ascending.length - 1) / 2)] ?? null;
}
