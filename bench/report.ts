/** How the figures look: a line for each run as it ends, tables at the end, and the raw figures as JSON. */

import { appendFileSync } from "node:fs";
import Table from "cli-table3";
import type { Run } from "./measure.ts";
import { percentile } from "./percentile.ts";
import type { Point, Ratio } from "./summary.ts";

const UNKNOWN = "?";
const RAW_PERCENTILES = [0, 10, 50, 90, 99, 99.9, 100];
const MS_PER_SECOND = 1000;

/** Other processes that take more than this share of one CPU make a run worth repeating. */
const DISTURBED_PERCENT = 20;

/** A run in one line, with what speaks against it. */
export function describeRun(run: Run): string {
  const { system, inFlight, latenciesMs, operations, durationMs } = run;
  const seconds = durationMs / MS_PER_SECOND;
  const [p50, p99] = [50, 99].map((percent) => percentile(latenciesMs, percent).toFixed(2));
  const parts = [
    `${inFlight} in flight, ${system}: ${operations} in ${seconds.toFixed(1)} s`,
    `${(operations / seconds).toFixed(0)}/s, p50 ${p50} ms, p99 ${p99} ms`,
  ];
  return [...parts, ...doubtsAbout(run)].join(", ");
}

/** How many of the runs cannot be trusted; empty if all can. */
export function doubtsAboutAll(runs: readonly Run[]): string {
  const doubtful = runs.filter((run) => doubtsAbout(run).length > 0).length;
  return doubtful === 0 ? "" : `${doubtful} of ${runs.length} runs were disturbed (see above): measure again.`;
}

function doubtsAbout({ durationMs, otherCpuMs, hasLeaderChanged }: Run): string[] {
  const doubts: string[] = [];
  const otherPercent = ((otherCpuMs ?? 0) / durationMs) * 100;
  if (otherPercent > DISTURBED_PERCENT) {
    doubts.push(`DISTURBED: other processes took ${otherPercent.toFixed(0)} % of a CPU`);
  }
  if (hasLeaderChanged) {
    doubts.push("DISTURBED: the leader changed");
  }
  return doubts;
}

/** The points of all systems, those to be compared beside each other. */
export function pointTable(points: readonly Point[]): string {
  const head = [
    "in flight",
    "system",
    "operations",
    "per s",
    "p50 ms",
    "p99 ms",
    "max ms",
    "CPU s/1000",
    "generator",
    "busy",
    "MiB",
  ];
  const rows = points.map((point) => [
    String(point.inFlight),
    point.system,
    String(point.operations),
    point.perSecond.toFixed(0),
    point.p50Ms.toFixed(2),
    point.p99Ms.toFixed(2),
    point.maxMs.toFixed(1),
    fixed(point.memberCpuSecondsPer1000, 3),
    point.generatorCpuSecondsPer1000.toFixed(3),
    `${point.generatorCpuPercent.toFixed(0)} %`,
    fixed(point.memoryMiBMax, 0),
  ]);
  return tableOf(head, rows);
}

/** The ratios of two systems. */
export function ratioTable(ratios: readonly Ratio[]): string {
  const rows = ratios.map((ratio) => [
    String(ratio.inFlight),
    ...[ratio.perSecond, ratio.p50, ratio.p99, ratio.memberCpu, ratio.memory].map((value) => fixed(value, 2)),
  ]);
  return tableOf(["in flight", "per s", "p50", "p99", "CPU", "memory"], rows);
}

/** A run as an object of JSON: its latencies by their percentiles. */
export function rawRun({ latenciesMs, ...figures }: Run): object {
  const percentiles = RAW_PERCENTILES.map((percent) => [`p${percent}`, percentile(latenciesMs, percent)]);
  return { ...figures, latencyMs: Object.fromEntries(percentiles) };
}

/** Appends raw figures to the file, one JSON object a line; `kind` says of what. Does nothing without a file. */
export function appendRaw(file: string | null, kind: string, figures: object): void {
  if (file !== null) {
    appendFileSync(file, `${JSON.stringify({ kind, ...figures })}\n`);
  }
}

function fixed(value: number | null, digits: number): string {
  return value === null ? UNKNOWN : value.toFixed(digits);
}

function tableOf(head: readonly string[], rows: readonly string[][]): string {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [] },
    colAligns: head.map(() => "right" as const),
  });
  table.push(...rows);
  return table.toString();
}
