/** The figures of a comparison: a row for each point, ours beside the other system's. */

import type { Point, Ratio } from "../measuring/index.ts";
import { markdownTable, tableOf } from "../tables/index.ts";
import type { Generator } from "./options.ts";

/** One point of one scenario. */
export interface Row {
  readonly scenario: string;
  /** The quantity that varies, such as `in flight`. */
  readonly concurrencyName: string;
  readonly ours: Point;
  readonly theirs: Point;
  readonly ratio: Ratio;
}

/** The setup of the measurement. */
export interface Setup {
  readonly startedAt: Date;
  /** Names and versions, ours first. */
  readonly systems: readonly [string, string];
  /** A line for each system with settings that differ from its defaults: its name, and the settings. */
  readonly settings: readonly string[];
  readonly members: number;
  /** The sender of the requests. */
  readonly generator: Generator;
  readonly cpus: number;
  /** Median times of a 4 KiB append with fdatasync in milliseconds, before and after. */
  readonly syncMs: number;
  readonly syncMsAfter: number;
  /** Number of runs that other processes or elections disturbed, and number of all runs. */
  readonly disturbedRuns: number;
  readonly runs: number;
}

const GENERATORS: Readonly<Record<Generator, string>> = { node: "grpc-js on Node", go: "grpc-go" };
const UNKNOWN = "?";
const MICROS_PER_MS = 1000;
const HEAD = [
  ...["scenario", "at once", "per s", "ratio", "p50 ms", "ratio", "p99 ms", "ratio", "CPU µs/op", "ratio"],
  "leader µs/op",
];

/** The rows as a table for the terminal. */
export function terminalTable(rows: readonly Row[]): string {
  return tableOf(HEAD, rows.map(cellsOf));
}

/** The rows as a Markdown table, below the setup. */
export function markdownReport(setup: Setup, rows: readonly Row[]): string {
  const [ours, theirs] = setup.systems;
  return [
    `# ${ours} beside ${theirs}`,
    "",
    `${setup.startedAt.toISOString()}, ${setup.members} members each, requests over all of them from ` +
      `${GENERATORS[setup.generator]}, ${setup.cpus} CPUs, ` +
      `disk sync p50 ${setup.syncMs.toFixed(2)} ms before and ${setup.syncMsAfter.toFixed(2)} ms after. ` +
      `Disturbed: ${setup.disturbedRuns} of ${setup.runs} runs.`,
    "",
    ...(setup.settings.length === 0 ? [] : ["Not by default:", "", ...setup.settings.map((text) => `- ${text}`), ""]),
    `Each cell has ${ours} first, then ${theirs}. "per s" is better above 1, every other ratio below 1. ` +
      `"leader µs/op" is the processor time of the main thread of the leader of ${ours}; the other system has no such ` +
      "thread.",
    "",
    ...markdownTable(HEAD, rows.map(cellsOf)),
    "",
  ].join("\n");
}

/** All figures as JSON. */
export function jsonReport(setup: Setup, rows: readonly Row[]): string {
  return `${JSON.stringify({ format: 1, setup, rows }, null, 2)}\n`;
}

function cellsOf({ scenario, concurrencyName, ours, theirs, ratio }: Row): string[] {
  const [ourTiming, theirTiming, timingRatio] = [ours.timings[0], theirs.timings[0], ratio.timings[0]];
  return [
    scenario,
    `${ours.concurrency} ${concurrencyName}`,
    `${ours.perSecond.toFixed(0)} / ${theirs.perSecond.toFixed(0)}`,
    times(ratio.perSecond),
    pair(ourTiming?.p50Ms ?? null, theirTiming?.p50Ms ?? null, 2),
    times(timingRatio?.p50 ?? null),
    pair(ourTiming?.p99Ms ?? null, theirTiming?.p99Ms ?? null, 2),
    times(timingRatio?.p99 ?? null),
    pair(microsOf(ours), microsOf(theirs), 0),
    times(ratio.memberCpu),
    ours.leaderMainMicrosPerOperation?.toFixed(0) ?? "",
  ];
}

/** Processor time of all members for one operation: seconds per 1,000 are milliseconds for one. */
function microsOf({ memberCpuSecondsPer1000 }: Point): number | null {
  return memberCpuSecondsPer1000 === null ? null : memberCpuSecondsPer1000 * MICROS_PER_MS;
}

function pair(ours: number | null, theirs: number | null, digits: number): string {
  return `${ours?.toFixed(digits) ?? UNKNOWN} / ${theirs?.toFixed(digits) ?? UNKNOWN}`;
}

function times(ratio: number | null): string {
  return ratio === null ? UNKNOWN : `${ratio.toFixed(2)}×`;
}
