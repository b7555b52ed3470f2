/** The puts that overlapped each kind of other work, beside those that overlapped none. */

import { percentile } from "../measuring/index.ts";
import type { Episode, Work } from "./episodes.ts";

/** Milliseconds of `performance.now()`. */
export interface TimedPut {
  readonly sentMs: number;
  readonly answeredMs: number;
}

export interface WorkSummary {
  /** Null for the puts that overlapped no other work. */
  readonly work: Work | null;
  readonly episodes: number;
  readonly puts: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The p99 divided by that of the puts without other work; null if there are none of either. */
  readonly p99Ratio: number | null;
}

const WORKS: readonly Work[] = ["snapshot", "log", "rocks"];

/**
 * A put that overlapped both kinds of compactions counts for both. A put that overlapped a snapshot counts for nothing
 * else, because members compact all the time while they send one.
 */
export function summarize(puts: readonly TimedPut[], episodes: readonly Episode[]): readonly WorkSummary[] {
  const of = (work: Work): readonly Episode[] => episodes.filter((episode) => episode.work === work);
  const meetsAny = (put: TimedPut, some: readonly Episode[]): boolean => some.some((episode) => meets(put, episode));
  const snapshots = of("snapshot");
  const calm = figuresOf(puts.filter((put) => !meetsAny(put, episodes)));
  const ofWorks = WORKS.map((work) => {
    const ofWork = of(work);
    const isOther = work !== "snapshot";
    const met = puts.filter((put) => meetsAny(put, ofWork) && !(isOther && meetsAny(put, snapshots)));
    const figures = figuresOf(met);
    const p99Ratio = figures.puts === 0 || calm.puts === 0 ? null : figures.p99Ms / calm.p99Ms;
    return { work, episodes: ofWork.length, ...figures, p99Ratio };
  });
  return [{ work: null, episodes: 0, ...calm, p99Ratio: null }, ...ofWorks];
}

function meets({ sentMs, answeredMs }: TimedPut, { startMs, endMs }: Episode): boolean {
  return sentMs <= endMs && answeredMs >= startMs;
}

function figuresOf(puts: readonly TimedPut[]): Pick<WorkSummary, "puts" | "p50Ms" | "p99Ms" | "maxMs"> {
  const ascending = Float64Array.from(puts, ({ sentMs, answeredMs }) => answeredMs - sentMs).sort();
  return {
    puts: puts.length,
    p50Ms: percentile(ascending, 50),
    p99Ms: percentile(ascending, 99),
    maxMs: percentile(ascending, 100),
  };
}
