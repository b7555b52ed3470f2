/** The tables of members with many keys, and of what costs something at rest. */

import type { PutDelays, Replacement } from "../members/index.ts";
import { markdownTable, tableOf } from "../tables/index.ts";
import type { ScaleOptions } from "./options.ts";

/** What each member uses, in the order of the members. */
export interface Footprint {
  readonly residentBytes: readonly number[];
  readonly logBytes: readonly number[];
  readonly stateBytes: readonly number[];
}

/** While so many keys were written, since the row before. */
export interface GrowthRow extends Footprint {
  readonly keys: number;
  readonly putsPerSecond: number;
  /** Single puts beside it. */
  readonly probe: PutDelays;
}

export interface BackupRow {
  readonly seconds: number;
  readonly bytes: number;
  readonly probe: PutDelays;
}

export interface ReplacementRow extends Replacement {
  /** Of the new member. */
  readonly stateBytes: number;
  readonly probe: PutDelays;
}

/** The members at rest, with so many of a kind, and with all kinds of the rows before. */
export interface BurdenRow {
  readonly name: string;
  readonly count: number;
  readonly makeSeconds: number;
  readonly residentBytes: readonly number[];
  /** Milliseconds of processor time in a second. */
  readonly cpuMsPerSecond: readonly number[];
}

/** Figures that are not known yet are null, or missing in lists. */
export interface Measured {
  readonly growth: GrowthRow[];
  /** Single puts before the restarts, with nothing beside them. */
  probeAlone: PutDelays | null;
  backup: BackupRow | null;
  replacement: ReplacementRow | null;
  /** From the start of a killed follower, and of all three members, until they serve. */
  restartOneMs: number | null;
  restartAllMs: number | null;
  afterRestart: Footprint | null;
  readonly burdens: BurdenRow[];
}

export interface ScaleReport {
  readonly startedAt: Date;
  readonly version: string;
  readonly cpus: number;
  readonly syncMs: number;
  readonly options: Pick<ScaleOptions, "keys" | "valueBytes" | "inFlight">;
  /** Why the benchmark ended early; null = it did not. */
  readonly failure: string | null;
  readonly measured: Measured;
}

const GROWTH_HEAD = [
  ...["keys", "puts a second", "single puts: p50 ms", "p99 ms", "max ms"],
  ...["resident MiB of each member", "log MiB", "rest on disk MiB"],
];
const EVENT_HEAD = [
  ...["then", "seconds", "MiB", "MiB/s", "single puts: p50 ms", "p99 ms", "max ms"],
  "resident MiB of each member",
];
const BURDEN_HEAD = [
  ...["at rest with", "made in s", "resident MiB of each member", "more than before", "bytes each"],
  ...["processor time of each member, ms/s", "more than before"],
];
const NO_SNAPSHOT = ["no snapshot: the log had everything", "", "", ""];
const MS_PER_SECOND = 1_000;
const BYTES_PER_MIB = 1_024 * 1_024;

/** For the terminal. */
export function terminalReport(report: ScaleReport): string {
  const tables = tablesOf(report).map(({ head, rows }) => tableOf(head, rows));
  return [setupOf(report), ...tables, verdictOf(report)].join("\n");
}

export function markdownReport(report: ScaleReport): string {
  const tables = tablesOf(report).flatMap(({ head, rows }) => [...markdownTable(head, rows), ""]);
  return ["# Many keys, and members at rest", "", setupOf(report), "", ...tables, verdictOf(report), ""].join("\n");
}

/** All figures. */
export function jsonReport(report: ScaleReport): string {
  return `${JSON.stringify({ format: 1, ...report }, null, 2)}\n`;
}

/** A row of the growth in one line, for the time until the tables come. */
export function describeGrowth(row: GrowthRow): string {
  return GROWTH_HEAD.map((name, at) => `${name} ${growthRow(row)[at]}`).join(", ");
}

function setupOf({ startedAt, version, cpus, syncMs, options }: ScaleReport): string {
  const { valueBytes, inFlight } = options;
  return (
    `${startedAt.toISOString()}, quoin ${version}, three members; values of ${valueBytes} random bytes, keys of 14 ` +
    `bytes in no order, transactions of 100 puts, ${inFlight} at a time over all members; single puts are those of ` +
    `another user, ten a second; ${cpus} CPUs for everything, disk sync p50 ${syncMs.toFixed(2)} ms.`
  );
}

function verdictOf({ failure }: ScaleReport): string {
  return failure === null ? "Everything was measured." : `ENDED EARLY: ${failure}.`;
}

function tablesOf({ measured }: ScaleReport) {
  return [
    { head: GROWTH_HEAD, rows: measured.growth.map(growthRow) },
    { head: EVENT_HEAD, rows: eventRows(measured) },
    { head: BURDEN_HEAD, rows: measured.burdens.map((row, at) => burdenRow(row, measured.burdens[at - 1] ?? null)) },
  ];
}

function growthRow(row: GrowthRow): string[] {
  return [
    row.keys.toLocaleString("en-US"),
    Math.round(row.putsPerSecond).toLocaleString("en-US"),
    ...delaysOf(row.probe),
    mebibytes(row.residentBytes),
    mebibytes(row.logBytes),
    mebibytes(row.stateBytes),
  ];
}

function eventRows({
  probeAlone,
  backup,
  replacement,
  restartOneMs,
  restartAllMs,
  afterRestart,
}: Measured): string[][] {
  const nothing = ["", "", ""];
  const rows: string[][] = [];
  if (probeAlone !== null) {
    rows.push(["nothing else", "", "", "", ...delaysOf(probeAlone), ""]);
  }
  if (backup !== null) {
    rows.push(["backup", ...transfer(backup.seconds, backup.bytes), ...delaysOf(backup.probe), ""]);
  }
  if (replacement !== null) {
    const { ms, snapshots, snapshotSeconds, stateBytes, probe } = replacement;
    rows.push(["new member", (ms / MS_PER_SECOND).toFixed(1), "", "", ...delaysOf(probe), ""]);
    const snapshot = snapshots === 0 ? NO_SNAPSHOT : ["its snapshot", ...transfer(snapshotSeconds, stateBytes)];
    rows.push([...snapshot, ...nothing, ""]);
  }
  if (restartOneMs !== null) {
    rows.push(["start of a killed follower", (restartOneMs / MS_PER_SECOND).toFixed(1), "", "", ...nothing, ""]);
  }
  if (restartAllMs !== null) {
    const resident = afterRestart === null ? "" : mebibytes(afterRestart.residentBytes);
    rows.push(["start of all three", (restartAllMs / MS_PER_SECOND).toFixed(1), "", "", ...nothing, resident]);
  }
  return rows;
}

function burdenRow(row: BurdenRow, before: BurdenRow | null): string[] {
  const grown = before === null ? [] : row.residentBytes.map((bytes, at) => bytes - (before.residentBytes[at] ?? 0));
  const more = before === null ? [] : row.cpuMsPerSecond.map((ms, at) => ms - (before.cpuMsPerSecond[at] ?? 0));
  return [
    row.count === 0 ? row.name : `${row.count.toLocaleString("en-US")} ${row.name}`,
    row.makeSeconds.toFixed(1),
    mebibytes(row.residentBytes),
    mebibytes(grown),
    before === null ? "" : list(grown, (bytes) => (bytes / row.count).toFixed(0)),
    list(row.cpuMsPerSecond, (ms) => ms.toFixed(1)),
    list(more, (ms) => ms.toFixed(1)),
  ];
}

function transfer(seconds: number, bytes: number): string[] {
  const mib = bytes / BYTES_PER_MIB;
  return [seconds.toFixed(1), mib.toFixed(1), (mib / seconds).toFixed(1)];
}

function delaysOf({ count, p50Ms, p99Ms, maxMs }: PutDelays): string[] {
  return count === 0 ? ["", "", ""] : [p50Ms.toFixed(1), p99Ms.toFixed(1), maxMs.toFixed(0)];
}

function mebibytes(bytes: readonly number[]): string {
  return list(bytes, (each) => (each / BYTES_PER_MIB).toFixed(0));
}

/** A figure of each member. */
function list(figures: readonly number[], shown: (figure: number) => string): string {
  return figures.map(shown).join(" / ");
}
