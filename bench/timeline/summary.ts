/** The results of the timelines of many puts: times of each step, the decisive waits, and sums by kind. */

import { percentile } from "../measuring/index.ts";
import { type Decisive, KINDS, type Kind, type LegName, type Point, type Timeline } from "./join.ts";

/** Microseconds. */
export interface Percentiles {
  /** About the time on an otherwise idle machine. */
  readonly p10Us: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

export interface StepSummary {
  readonly leg: LegName;
  readonly step: string;
  /** The kind in most of the puts. */
  readonly kind: Kind;
  /** Since the previous step of its leg, or since the start of the leg. */
  readonly sinceStep: Percentiles;
  /** Since the sending. */
  readonly sinceStart: Percentiles;
}

/** The time of one kind on the critical paths of the puts. */
export interface KindSummary extends Percentiles {
  readonly kind: Kind;
  readonly meanUs: number;
  /** Share of the mean time of a put, from 0 to 1. */
  readonly share: number;
}

/** The puts that one kind of member got. */
export interface CaseSummary {
  readonly askedAt: Timeline["askedAt"];
  readonly puts: number;
  readonly total: Percentiles & { readonly meanUs: number };
  readonly decisive: readonly { readonly what: Decisive; readonly puts: number }[];
  readonly steps: readonly StepSummary[];
  readonly kinds: readonly KindSummary[];
}

const NS_PER_US = 1000;

/** The two cases, except one without puts. */
export function summarize(timelines: readonly Timeline[]): readonly CaseSummary[] {
  return (["leader", "follower"] as const).flatMap((askedAt) => {
    const ofCase = timelines.filter((timeline) => timeline.askedAt === askedAt);
    return ofCase.length === 0 ? [] : [summaryOf(askedAt, ofCase)];
  });
}

/** Nanoseconds of each kind on the critical path; their sum is exactly the time of the put. */
export function sumsByKind({ startNs, path }: Pick<Timeline, "startNs" | "path">): Readonly<Record<Kind, number>> {
  const sums = { code: 0, threads: 0, disk: 0, wire: 0, generator: 0 };
  let beforeNs = startNs;
  for (const { kind, atNs } of path) {
    sums[kind] += atNs - beforeNs;
    beforeNs = atNs;
  }
  return sums;
}

/** Percentiles of nanoseconds in any order. */
export function percentilesOf(valuesNs: readonly number[]): Percentiles {
  const ascending = Float64Array.from(valuesNs).sort();
  const at = (percent: number): number => percentile(ascending, percent) / NS_PER_US;
  return { p10Us: at(10), p50Us: at(50), p99Us: at(99) };
}

function summaryOf(askedAt: Timeline["askedAt"], timelines: readonly Timeline[]): CaseSummary {
  const totals = timelines.map(({ startNs, path }) => (path.at(-1)?.atNs ?? startNs) - startNs);
  const meanUs = meanUsOf(totals);
  const sums = timelines.map(sumsByKind);
  return {
    askedAt,
    puts: timelines.length,
    total: { ...percentilesOf(totals), meanUs },
    decisive: countDecisive(timelines),
    steps: stepsOf(timelines),
    kinds: KINDS.map((kind) => {
      const values = sums.map((ofPut) => ofPut[kind]);
      return { kind, ...percentilesOf(values), meanUs: meanUsOf(values), share: meanUsOf(values) / meanUs };
    }),
  };
}

function countDecisive(timelines: readonly Timeline[]): CaseSummary["decisive"] {
  const counts = new Map<Decisive, number>();
  for (const { decisive } of timelines) {
    counts.set(decisive, (counts.get(decisive) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, other]) => other - one).map(([what, puts]) => ({ what, puts }));
}

/** All timelines of a case have the same legs with the same steps. */
function stepsOf(timelines: readonly Timeline[]): readonly StepSummary[] {
  const [model] = timelines;
  return (model?.legs ?? []).flatMap(({ name, points }, legAt) =>
    points.map(({ step }, pointAt) => {
      const sinceStep: number[] = [];
      const sinceStart: number[] = [];
      const kinds: Kind[] = [];
      for (const { legs, startNs } of timelines) {
        const leg = legs[legAt];
        const point = leg?.points[pointAt] as Point;
        const beforeNs = leg?.points[pointAt - 1]?.atNs ?? leg?.fromNs ?? startNs;
        sinceStep.push(point.atNs - beforeNs);
        sinceStart.push(point.atNs - startNs);
        kinds.push(point.kind);
      }
      return {
        leg: name,
        step,
        kind: mostFrequent(kinds),
        sinceStep: percentilesOf(sinceStep),
        sinceStart: percentilesOf(sinceStart),
      };
    }),
  );
}

function mostFrequent(kinds: readonly Kind[]): Kind {
  const count = (kind: Kind) => kinds.filter((one) => one === kind).length;
  return [...KINDS].sort((one, other) => count(other) - count(one))[0] ?? "code";
}

function meanUsOf(valuesNs: readonly number[]): number {
  return valuesNs.reduce((total, value) => total + value, 0) / valuesNs.length / NS_PER_US;
}
