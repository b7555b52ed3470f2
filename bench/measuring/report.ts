/** The presentation of figures: a line for each run as it ends, tables at the end, and the raw figures as JSON. */

import { appendFileSync } from "node:fs";
import { tableOf } from "../tables/index.ts";
import type { Run } from "./measure.ts";
import { percentile } from "./percentile.ts";
import type { Point, Ratio } from "./summary.ts";

const UNKNOWN = "?";
const NONE = "-";
const MICROS_PER_MS = 1000;
const RAW_PERCENTILES = [0, 10, 50, 90, 99, 99.9, 100];
const MS_PER_SECOND = 1000;

/** If other processes take more than this share of one CPU, repeat the run. */
const DISTURBED_PERCENT = 20;

/** A run in one line, with reasons to distrust it; `concurrencyName` names the quantity that varies. */
export function describeRun(run: Run, concurrencyName: string): string {
  const { system, concurrency, operations, durationMs, elapsedMs, attempts, leaderMainCpuMs, memberLoopDelayMs } = run;
  const parts = [
    `${concurrency} ${concurrencyName}, ${system}: ${operations} in ${(elapsedMs / MS_PER_SECOND).toFixed(1)} s`,
    `${((operations / durationMs) * MS_PER_SECOND).toFixed(0)}/s`,
  ];
  for (const { name, valuesMs } of run.timings) {
    const [p50, p99] = [50, 99].map((percent) => percentile(valuesMs, percent).toFixed(2));
    parts.push(`${name} p50 ${p50} ms, p99 ${p99} ms`);
  }
  if (attempts !== null) {
    parts.push(`${(attempts / operations).toFixed(2)} attempts each`);
  }
  if (leaderMainCpuMs !== null) {
    parts.push(`the leader's main thread ${((leaderMainCpuMs / operations) * MICROS_PER_MS).toFixed(0)} µs each`);
  }
  if (memberLoopDelayMs !== null) {
    parts.push(`event loops up to ${loopDelays(memberLoopDelayMs)} ms late`);
  }
  return [...parts, ...doubtsAbout(run)].join(", ");
}

/** How many of the runs are unreliable; empty if none is. */
export function doubtsAboutAll(runs: readonly Run[]): string {
  const doubtful = runs.filter(isDisturbed).length;
  return doubtful === 0 ? "" : `${doubtful} of ${runs.length} runs were disturbed (see above): measure again.`;
}

/** Whether other processes, or an election, make the run unreliable. */
export function isDisturbed(run: Run): boolean {
  return doubtsAbout(run).length > 0;
}

function doubtsAbout({ elapsedMs, otherCpuMs, elections }: Run): string[] {
  const doubts: string[] = [];
  const otherPercent = ((otherCpuMs ?? 0) / elapsedMs) * 100;
  if (otherPercent > DISTURBED_PERCENT) {
    doubts.push(`DISTURBED: other processes took ${otherPercent.toFixed(0)} % of a CPU`);
  }
  if (elections > 0) {
    doubts.push(`DISTURBED: elections: ${elections}`);
  }
  return doubts;
}

/** The points of all systems, with those to compare next to each other. They belong to one scenario. */
export function pointTable(points: readonly Point[], concurrencyName: string): string {
  const names = points[0]?.timings.map(({ name }) => name) ?? [];
  const hasAttempts = points.some(({ attemptsPerOperation }) => attemptsPerOperation !== null);
  const head = [
    ...[concurrencyName, "system", "operations", "per s"],
    ...timingHeads(names, ["p50 ms", "p99 ms", "max ms"]),
    ...(hasAttempts ? ["attempts"] : []),
    ...["CPU s/1000", "leader µs", "generator", "busy", "MiB", "loops ms", "elections"],
  ];
  const rows = points.map((point) => [
    ...[String(point.concurrency), point.system, String(point.operations), point.perSecond.toFixed(0)],
    ...point.timings.flatMap(({ p50Ms, p99Ms, maxMs }) => [p50Ms.toFixed(2), p99Ms.toFixed(2), maxMs.toFixed(1)]),
    ...(hasAttempts ? [fixed(point.attemptsPerOperation, 2)] : []),
    fixed(point.memberCpuSecondsPer1000, 3),
    point.leaderMainMicrosPerOperation?.toFixed(0) ?? "",
    point.generatorCpuSecondsPer1000.toFixed(3),
    `${point.generatorCpuPercent.toFixed(0)} %`,
    fixed(point.memoryMiBMax, 0),
    point.memberLoopDelayMs === null ? NONE : loopDelays(point.memberLoopDelayMs),
    String(point.elections),
  ]);
  return tableOf(head, rows);
}

/** The ratios of two systems in one scenario. */
export function ratioTable(ratios: readonly Ratio[], concurrencyName: string): string {
  const names = ratios[0]?.timings.map(({ name }) => name) ?? [];
  const hasAttempts = ratios.some(({ attempts }) => attempts !== null);
  const hasLeaderMain = ratios.some(({ leaderMain }) => leaderMain !== null);
  const head = [
    ...[concurrencyName, "per s"],
    ...timingHeads(names, ["p50", "p99"]),
    ...(hasAttempts ? ["attempts"] : []),
    "CPU",
    ...(hasLeaderMain ? ["leader"] : []),
    "memory",
  ];
  const rows = ratios.map((ratio) => [
    ...[String(ratio.concurrency), fixed(ratio.perSecond, 2)],
    ...ratio.timings.flatMap(({ p50, p99 }) => [fixed(p50, 2), fixed(p99, 2)]),
    ...(hasAttempts ? [fixed(ratio.attempts, 2)] : []),
    fixed(ratio.memberCpu, 2),
    ...(hasLeaderMain ? [fixed(ratio.leaderMain, 2)] : []),
    fixed(ratio.memory, 2),
  ]);
  return tableOf(head, rows);
}

/** A run as an object of JSON, with the percentiles of its times. */
export function rawRun({ timings, ...figures }: Run): object {
  const percentilesOf = (valuesMs: Float64Array) =>
    Object.fromEntries(RAW_PERCENTILES.map((percent) => [`p${percent}`, percentile(valuesMs, percent)]));
  return { ...figures, timingsMs: timings.map(({ name, valuesMs }) => ({ name, ...percentilesOf(valuesMs) })) };
}

/** Appends raw figures to the file, one JSON object per line; `kind` names their kind. Does nothing without a file. */
export function appendRaw(file: string | null, kind: string, figures: object): void {
  if (file !== null) {
    appendFileSync(file, `${JSON.stringify({ kind, ...figures })}\n`);
  }
}

/** If there is only one kind of times, its name adds nothing to that of the scenario. */
function timingHeads(names: readonly string[], heads: readonly string[]): string[] {
  return names.flatMap((name) => heads.map((head) => (names.length === 1 ? head : `${name}\n${head}`)));
}

/** One figure for each member. */
function loopDelays(delaysMs: readonly number[]): string {
  return delaysMs.map((delayMs) => delayMs.toFixed(0)).join("/");
}

function fixed(value: number | null, digits: number): string {
  return value === null ? UNKNOWN : value.toFixed(digits);
}
