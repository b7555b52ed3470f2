/** The table of the effect of other work on puts. */

import { markdownTable, tableOf } from "../tables/index.ts";
import type { Work } from "./episodes.ts";
import type { InterferenceOptions } from "./options.ts";
import type { WorkSummary } from "./summary.ts";

export interface Report {
  readonly startedAt: Date;
  /** Version of the members. */
  readonly version: string;
  readonly cpus: number;
  readonly options: InterferenceOptions;
  /** Median times of a 4 KiB append with fdatasync in milliseconds, before and after. */
  readonly syncMs: number;
  readonly syncMsAfter: number;
  /** Duration of each snapshot, from the restart of the follower to the end of the receipt. */
  readonly snapshotsMs: readonly number[];
  readonly elections: number;
  readonly rows: readonly WorkSummary[];
}

const WORK_WORDS: Readonly<Record<Work, string>> = {
  snapshot: "a snapshot to a follower",
  log: "a compaction of the Raft log",
  rocks: "a compaction by RocksDB",
};
const HEAD = ["puts that met", "episodes", "puts", "p50 ms", "p99 ms", "max ms", "p99 ratio"];
const MS_PER_SECOND = 1000;

/** For the terminal. */
export function terminalReport(report: Report): string {
  return `${setupOf(report)}\n${tableOf(HEAD, rowsOf(report))}`;
}

export function markdownReport(report: Report): string {
  const table = markdownTable(HEAD, rowsOf(report));
  return ["# Puts and other work of members", "", setupOf(report), "", ...table, ""].join("\n");
}

/** All figures. */
export function jsonReport(report: Report): string {
  return `${JSON.stringify({ format: 1, ...report }, null, 2)}\n`;
}

function setupOf({ startedAt, version, cpus, options, syncMs, syncMsAfter, snapshotsMs, elections }: Report): string {
  const { inFlight, valueBytes, missedMib } = options;
  const snapshots = snapshotsMs.map((ms) => (ms / MS_PER_SECOND).toFixed(1)).join(", ");
  return (
    `${startedAt.toISOString()}, quoin ${version}, 3 members, puts of ${valueBytes} bytes, ${inFlight} in flight over two of ` +
    `them, the third missed ${missedMib} MiB in each round; snapshots took ${snapshots} s; ${elections} elections; ` +
    `${cpus} CPUs, disk sync p50 ${syncMs.toFixed(2)} ms before and ${syncMsAfter.toFixed(2)} ms after.`
  );
}

function rowsOf({ rows }: Report): string[][] {
  return rows.map(({ work, episodes, puts, p50Ms, p99Ms, maxMs, p99Ratio }) => [
    work === null ? "no other work" : WORK_WORDS[work],
    work === null ? "" : String(episodes),
    String(puts),
    ...[p50Ms, p99Ms, maxMs].map((ms) => (puts === 0 ? "" : ms.toFixed(2))),
    p99Ratio === null ? "" : `${p99Ratio.toFixed(2)}×`,
  ]);
}
