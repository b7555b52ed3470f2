/** The figures of a comparison as a chart shows them, from the JSON of `npm run bench -- compare`. */

import { readFileSync } from "node:fs";

/** One figure of a point; null = it was not measured. */
interface Measure {
  readonly title: string;
  readonly isBetterAbove: boolean;
  readonly of: (point: ReportedPoint) => number | null;
}

/** The parts of a reported point that a chart uses. */
interface ReportedPoint {
  readonly concurrency: number;
  readonly perSecond: number;
  readonly timings: readonly { readonly p50Ms: number; readonly p99Ms: number }[];
  readonly memberCpuSecondsPer1000: number | null;
}

interface ReportedRow {
  readonly scenario: string;
  readonly concurrencyName: string;
  readonly ours: ReportedPoint;
  readonly theirs: ReportedPoint;
}

interface Report {
  readonly format: number;
  readonly setup: { readonly startedAt: string; readonly systems: readonly string[]; readonly cpus: number };
  readonly rows: readonly ReportedRow[];
}

/** A chart: one bar for each point of a scenario. */
export interface Chart {
  readonly title: string;
  readonly note: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly ours: number;
  readonly theirs: number;
}

/** The file has no figures of a comparison; the message names the file and the reason. */
export class ChartError extends Error {}

/** The version of the format of the reports. */
const FORMAT = 1;
const MICROS_PER_MS = 1000;

export const MEASURES = {
  "per-second": { title: "operations per second", isBetterAbove: true, of: ({ perSecond }) => perSecond },
  p50: { title: "median time in ms", isBetterAbove: false, of: ({ timings }) => timings[0]?.p50Ms ?? null },
  p99: { title: "p99 in ms", isBetterAbove: false, of: ({ timings }) => timings[0]?.p99Ms ?? null },
  cpu: {
    title: "processor time of all members for an operation, in µs",
    isBetterAbove: false,
    of: ({ memberCpuSecondsPer1000: seconds }) => (seconds === null ? null : seconds * MICROS_PER_MS),
  },
} as const satisfies Record<string, Measure>;

export type MeasureName = keyof typeof MEASURES;

/** Reads the report of a comparison. Raises a ChartError. */
export function readChart(file: string, name: MeasureName): Chart {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ChartError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const { format, setup, rows } = (content ?? {}) as Partial<Report>;
  if (format !== FORMAT || setup === undefined || rows === undefined || rows.length === 0) {
    throw new ChartError(`${file} does not contain the figures of a comparison in format ${FORMAT}`);
  }
  return chartOf({ format, setup, rows }, name);
}

function chartOf({ setup, rows }: Report, name: MeasureName): Chart {
  const measure: Measure = MEASURES[name];
  const [ours = "", theirs = ""] = setup.systems;
  const bars = rows.flatMap((row): Bar[] => {
    const [our, their] = [measure.of(row.ours), measure.of(row.theirs)];
    const label = `${row.scenario}, ${row.ours.concurrency} ${row.concurrencyName}`;
    return our === null || their === null ? [] : [{ label, ours: our, theirs: their }];
  });
  if (bars.length === 0) {
    throw new ChartError(`the comparison has no figures of ${name}`);
  }
  const better = measure.isBetterAbove ? "longer" : "shorter";
  return {
    title: `${ours} / ${theirs}: ${measure.title}`,
    note: `${setup.startedAt.slice(0, 10)}, ${setup.cpus} CPUs for everything; ${better} bars are better for ${ours}`,
    bars,
  };
}
