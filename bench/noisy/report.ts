/** The table of what a quiet tenant notices. */

import { markdownTable, tableOf } from "../tables/index.ts";
import type { Load } from "./load.ts";
import type { NoisyOptions } from "./options.ts";
import type { Delays, Experience } from "./quiet-tenant.ts";

/** A noise, and what the quiet tenant noticed without it and with it. */
export interface NoisyRow {
  readonly noise: string;
  /** What it did, in words. */
  readonly did: string;
  readonly before: Experience;
  readonly during: Experience;
  readonly load: Load;
  readonly leaderChanges: number;
  /** Members that have ended so far. */
  readonly ended: number;
}

export interface NoisyReport {
  readonly startedAt: Date;
  readonly version: string;
  readonly cpus: number;
  readonly options: Pick<NoisyOptions, "seconds">;
  readonly syncMs: number;
  readonly rows: readonly NoisyRow[];
}

/** The goal: at most so many times the p99 without noise. */
const RATIO_MAX = 3;
const HEAD = [
  ...["noise", "put p50, p99 ms", "get p50, p99 ms", "watch p50, p99 ms", "p99 ratio"],
  ...["cores of members", "machine", "longest turn ms", "failed", "elections"],
];
const PERCENT = 100;

/** How many times the p99 without noise the p99 with it is: the greatest of put, get and watch. */
export function ratioOf({ before, during }: Pick<NoisyRow, "before" | "during">): number {
  const ratios = (["put", "get", "watch"] as const).map((kind) => during[kind].p99Ms / before[kind].p99Ms);
  return Math.max(...ratios.filter(Number.isFinite), 0);
}

/** Whether the goal holds: no other leader, no member that ended, no failed call, and a p99 of at most three times. */
export function holds(row: NoisyRow): boolean {
  return row.leaderChanges === 0 && row.ended === 0 && row.during.failed === 0 && ratioOf(row) <= RATIO_MAX;
}

/** For the terminal. */
export function terminalReport(report: NoisyReport): string {
  return `${setupOf(report)}\n${tableOf(HEAD, rowsOf(report))}\n${verdictOf(report)}`;
}

export function markdownReport(report: NoisyReport): string {
  const table = markdownTable(HEAD, rowsOf(report));
  return ["# A quiet tenant beside a noisy one", "", setupOf(report), "", ...table, "", verdictOf(report), ""].join(
    "\n",
  );
}

/** All figures. */
export function jsonReport(report: NoisyReport): string {
  return `${JSON.stringify({ format: 1, ...report }, null, 2)}\n`;
}

function setupOf({ startedAt, version, cpus, options, syncMs }: NoisyReport): string {
  return (
    `${startedAt.toISOString()}, quoin ${version}, 3 members with the default limits, each noise for ${options.seconds} s, ` +
    `beside 20 puts, gets and watched changes a second; ${cpus} CPUs, disk sync p50 ${syncMs.toFixed(2)} ms.`
  );
}

function verdictOf({ rows }: NoisyReport): string {
  const broken = rows.filter((row) => !holds(row)).map(({ noise }) => noise);
  const good = `The goal holds in ${rows.length - broken.length} of ${rows.length} rows.`;
  return broken.length === 0 ? good : `${good} It does not: ${broken.join("; ")}.`;
}

function rowsOf({ rows }: NoisyReport): string[][] {
  const quietest = rows.toSorted((one, other) => one.before.put.p99Ms - other.before.put.p99Ms)[rows.length >> 1];
  const none = quietest === undefined ? [] : [["none", ...delays(quietest.before), "", "", "", "", "", ""]];
  const noisy = rows.map((row) => [
    row.noise,
    ...delays(row.during),
    `${ratioOf(row).toFixed(1)}×`,
    row.load.memberCores.toFixed(1),
    `${Math.round(row.load.machineShare * PERCENT)} %`,
    row.load.turnMsMax.toFixed(0),
    String(row.during.failed),
    `${row.leaderChanges}${row.ended > 0 ? `, ${row.ended} members ended` : ""}`,
  ]);
  return [...none, ...noisy];
}

function delays({ put, get, watch }: Experience): string[] {
  return [put, get, watch].map(({ p50Ms, p99Ms }: Delays) => `${p50Ms.toFixed(1)}, ${p99Ms.toFixed(1)}`);
}
