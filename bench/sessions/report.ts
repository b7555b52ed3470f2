/** The tables of renewals, of ends, and of the puts of another user beside them. */

import type { PutDelays, Work } from "../members/index.ts";
import { markdownTable, tableOf } from "../tables/index.ts";
import type { Lateness } from "./ends.ts";
import type { SessionsOptions } from "./options.ts";
import type { CallCounts } from "./renewals.ts";

/** A part of the measurement. */
export interface Phase {
  readonly name: string;
  readonly seconds: number;
  readonly calls: CallCounts;
  /** Null if a member was started again meanwhile. */
  readonly load: MemberLoad | null;
}

/** The work of the members in a second. */
export interface MemberLoad {
  /** Position of the leader. */
  readonly leader: number;
  /** Milliseconds of processor time of each member; null if this machine does not report it. */
  readonly cpuMs: readonly number[] | null;
  /** Entries of the leader's log. */
  readonly entries: number;
}

export interface SessionsReport {
  readonly startedAt: Date;
  readonly version: string;
  readonly cpus: number;
  readonly syncMs: number;
  readonly options: Pick<SessionsOptions, "sessions" | "ttlSeconds" | "seconds" | "elections">;
  readonly namespaces: number;
  readonly phases: readonly Phase[];
  /** Sessions that ended before their deadline, in the whole measurement. */
  readonly early: number;
  readonly lateness: Lateness;
  /** From the first deadline to the last one, and to the last end. */
  readonly deadlinesMs: number;
  readonly allGoneMs: number;
  /** Processor time of all members in a second, from the last renewal to the first deadline, and from there to the end. */
  readonly cpuMsBefore: number | null;
  readonly cpuMsMeanwhile: number | null;
  readonly putsBefore: PutDelays;
  readonly putsMeanwhile: PutDelays;
}

const PHASE_HEAD = [
  ...["phase", "seconds", "calls", "renewed sessions", "RATE_LIMITED", "failed", "not in time"],
  ...["entries a second", "processor time, ms a second"],
];
const ENDS_HEAD = ["ended", "deadlines within ms", "all gone after ms", "late p50 ms", "late p99 ms", "late max ms"];
const PUTS_HEAD = [
  ...["puts of another user", "puts", "failed", "p50 ms", "p99 ms", "max ms", "p99 ratio"],
  "processor time of members, ms a second",
];
const UNKNOWN = "?";

/** What the members did between these moments, which are that many seconds apart, for one second. */
export function loadBetween(before: Work, after: Work, seconds: number): MemberLoad | null {
  if (before.leader !== after.leader) {
    return null;
  }
  const cpuMs = before.cpuMs && after.cpuMs?.map((ms, at) => (ms - (before.cpuMs?.[at] ?? 0)) / seconds);
  return { leader: after.leader, cpuMs: cpuMs ?? null, entries: (after.entries - before.entries) / seconds };
}

/** For the terminal. */
export function terminalReport(report: SessionsReport): string {
  const tables = tablesOf(report).map(({ head, rows }) => tableOf(head, rows));
  return [setupOf(report), ...tables, verdictOf(report)].join("\n");
}

export function markdownReport(report: SessionsReport): string {
  const tables = tablesOf(report).flatMap(({ head, rows }) => [...markdownTable(head, rows), ""]);
  return ["# Many sessions", "", setupOf(report), "", ...tables, verdictOf(report), ""].join("\n");
}

/** All figures. */
export function jsonReport(report: SessionsReport): string {
  return `${JSON.stringify({ format: 1, ...report }, null, 2)}\n`;
}

function setupOf({ startedAt, version, cpus, syncMs, options, namespaces }: SessionsReport): string {
  const { sessions, ttlSeconds } = options;
  return (
    `${startedAt.toISOString()}, quoin ${version}, 3 members with the default limits, ${sessions} sessions of ` +
    `${ttlSeconds} s in ${namespaces} namespaces, each with one key, renewed at a third of that in calls of up to 500; ` +
    `${cpus} CPUs, disk sync p50 ${syncMs.toFixed(2)} ms.`
  );
}

function verdictOf({ early, phases }: SessionsReport): string {
  const overdue = phases.reduce((sum, { calls }) => sum + calls.overdue, 0);
  return `Sessions that ended early: ${early}. Sessions that were not renewed in time: ${overdue}.`;
}

function tablesOf(report: SessionsReport): { readonly head: string[]; readonly rows: string[][] }[] {
  const { lateness, deadlinesMs, allGoneMs, putsBefore, putsMeanwhile } = report;
  const ends = [deadlinesMs, allGoneMs, lateness.p50Ms, lateness.p99Ms, lateness.maxMs].map((ms) => ms.toFixed(0));
  return [
    { head: PHASE_HEAD, rows: report.phases.map(phaseRow) },
    { head: ENDS_HEAD, rows: [[String(lateness.count), ...ends]] },
    {
      head: PUTS_HEAD,
      rows: [
        putsRow("before", putsBefore, "", report.cpuMsBefore),
        putsRow(
          "while sessions end",
          putsMeanwhile,
          ratio(putsMeanwhile.p99Ms, putsBefore.p99Ms),
          report.cpuMsMeanwhile,
        ),
      ],
    },
  ];
}

function phaseRow({ name, seconds, calls, load }: Phase): string[] {
  return [
    ...[name, seconds.toFixed(1), String(calls.calls), String(calls.renewed)],
    ...[String(calls.rateLimited), String(calls.failed), String(calls.overdue)],
    load === null ? "" : load.entries.toFixed(1),
    load === null ? "" : cpuOf(load),
  ];
}

/** The leader is marked. */
function cpuOf({ leader, cpuMs }: MemberLoad): string {
  const each = cpuMs?.map((ms, at) => `${ms.toFixed(0)}${at === leader ? " (leader)" : ""}`);
  return each?.join(", ") ?? UNKNOWN;
}

function putsRow(
  name: string,
  { count, failed, p50Ms, p99Ms, maxMs }: PutDelays,
  compared: string,
  cpuMs: number | null,
): string[] {
  const delays = [p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1));
  return [name, String(count), String(failed), ...delays, compared, cpuMs?.toFixed(0) ?? UNKNOWN];
}

function ratio(p99Ms: number, beforeMs: number): string {
  return beforeMs > 0 ? `${(p99Ms / beforeMs).toFixed(2)}×` : UNKNOWN;
}
