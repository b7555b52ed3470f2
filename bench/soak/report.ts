/** The summary of a load as tables, and its picture. */

import { drawLines, type Line, type Mark } from "../chart/index.ts";
import { MEMBERS } from "../members/index.ts";
import { markdownTable, tableOf } from "../tables/index.ts";
import { type PastEvent, STEADY } from "./events.ts";
import type { SoakSample } from "./samples.ts";
import type { CallTrend, ProcessTrends, Trend } from "./summary.ts";

export interface SoakReport {
  readonly startedAt: Date;
  readonly version: string;
  readonly cpus: number;
  readonly syncMs: number;
  readonly seconds: number;
  /** Why the load failed; null = it did not. */
  readonly failure: string | null;
  readonly events: readonly PastEvent[];
  readonly processes: readonly ProcessTrends[];
  readonly calls: readonly CallTrend[];
  /** How often an action was due, but everything that it needs was in use. */
  readonly skipped: Readonly<Record<string, number>>;
}

const PROCESS_HEAD = ["process", "figure", "second sixth", "last sixth", "growth in an hour"];
const CALL_HEAD = [
  ...["call", "calls", "failed attempts", "p50 ms: second sixth", "last sixth"],
  ...["p99 ms: second sixth", "last sixth", "growth in an hour", "longest ms"],
];
const EVENT_HEAD = ["event", "at minute", "seconds", "what"];
const UNKNOWN = "?";
const SECONDS_PER_MINUTE = 60;
const BYTES_PER_MIB = 1_024 * 1_024;
/** The kinds of calls in the picture: as many as it has colors. */
const DRAWN = ["put", "get", "transact", "append", "lock-hand-over", "watch-event"];

/** For the terminal. */
export function terminalReport(report: SoakReport): string {
  const tables = tablesOf(report).map(({ head, rows }) => tableOf(head, rows));
  return [setupOf(report), ...tables, verdictOf(report)].join("\n");
}

export function markdownReport(report: SoakReport): string {
  const tables = tablesOf(report).flatMap(({ head, rows, words }) => {
    return [...markdownTable(head, rows, (name, at) => at > 0 && !words.includes(name)), ""];
  });
  return ["# Under load for long", "", setupOf(report), "", ...tables, verdictOf(report), ""].join("\n");
}

/** Memory and times, with a mark for each event. */
export function picture(report: SoakReport, samples: readonly SoakSample[]): string {
  const lineOf = (label: string, figureOf: (sample: SoakSample) => number | null): Line => {
    return { label, points: samples.map((sample) => ({ atSeconds: sample.atSeconds, value: figureOf(sample) })) };
  };
  const mebibytes = (bytes: number | undefined): number | null => (bytes === undefined ? null : bytes / BYTES_PER_MIB);
  const members = Array.from({ length: MEMBERS }, (_, at) => {
    return lineOf(nameOf(at), (sample) => mebibytes(sample.members[at]?.residentBytes));
  });
  const clients = lineOf("clients", (sample) => mebibytes(sample.clients.residentBytes));
  const times = DRAWN.map((kind) => lineOf(kind, ({ calls }) => calls[kind]?.p99Ms || null));
  const marks = report.events.map(({ atSeconds, name }): Mark => ({ atSeconds, label: name }));
  return drawLines({
    title: `quoin ${report.version} under load`,
    note: `${report.startedAt.toISOString().slice(0, 10)}, three members and their clients on ${report.cpus} CPUs`,
    seconds: Math.max(report.seconds, samples.at(-1)?.atSeconds ?? 0),
    panels: [
      { title: "resident memory in MiB", isLogarithmic: false, lines: [...members, clients] },
      { title: "p99 of the calls in 10 s, in ms", isLogarithmic: true, lines: times },
    ],
    marks,
  });
}

function setupOf({ startedAt, version, cpus, syncMs, seconds, calls }: SoakReport): string {
  const total = calls.reduce((sum, { count }) => sum + count, 0);
  return (
    `${startedAt.toISOString()}, quoin ${version}, three members with the default limits under load for ` +
    `${(seconds / SECONDS_PER_MINUTE).toFixed(1)} min, ${(total / seconds).toFixed(0)} calls a second; ${cpus} CPUs, ` +
    `disk sync p50 ${syncMs.toFixed(2)} ms. ${nameOf(STEADY)} was never stopped. Times are those of calls without a ` +
    "fault, except for the longest."
  );
}

function verdictOf({ failure, skipped }: SoakReport): string {
  const left = Object.entries(skipped).map(([name, count]) => `${name} ${count}`);
  const actions = left.length === 0 ? "" : ` Not done, because everything was in use: ${left.join(", ")}.`;
  return failure === null
    ? `No call failed without a fault. At the end, every acknowledged change was there.${actions}`
    : `FAILED: ${failure}.${actions}`;
}

function tablesOf({ events, processes, calls }: SoakReport) {
  return [
    { head: PROCESS_HEAD, rows: processes.flatMap(processRows), words: ["figure"] },
    { head: CALL_HEAD, rows: calls.map(callRow), words: [] },
    { head: EVENT_HEAD, rows: events.map(eventRow), words: ["what"] },
  ];
}

function processRows({ at, trends }: ProcessTrends): string[][] {
  const process = at === null ? "clients" : nameOf(at);
  return trends.map(({ name, ...trend }) => [process, name, ...cellsOf({ name, ...trend })]);
}

function callRow({ kind, count, failed, p50, p99, maxMs }: CallTrend): string[] {
  const [second, last] = cellsOf(p50);
  return [kind, String(count), String(failed), second ?? "", last ?? "", ...cellsOf(p99), maxMs.toFixed(0)];
}

function eventRow({ name, atSeconds, seconds, note }: PastEvent): string[] {
  return [name, (atSeconds / SECONDS_PER_MINUTE).toFixed(1), seconds.toFixed(1), note];
}

function cellsOf({ second, last, perHour }: Trend): string[] {
  return [second?.toFixed(1) ?? UNKNOWN, last?.toFixed(1) ?? UNKNOWN, perHour === null ? UNKNOWN : signed(perHour)];
}

function signed(value: number): string {
  return `${value < 0 ? "" : "+"}${value.toFixed(1)}`;
}

function nameOf(at: number): string {
  return `q-${at}`;
}
