/** What a run came to: a table for people, and files for those who want to know why. */

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedOperation } from "../history/index.ts";
import type { Landing } from "./fault.ts";

/** A fault that was made, or meant to be made. Times are milliseconds since the load began. */
export interface FaultRecord extends Landing {
  readonly kind: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface NemesisResult {
  readonly seed: number;
  readonly members: number;
  readonly durationMs: number;
  readonly operations: number;
  readonly acknowledgedWrites: number;
  readonly unknown: number;
  readonly failed: number;
  readonly writeGapMs: number;
  readonly faults: readonly FaultRecord[];
  /** Planned kinds that never landed. */
  readonly missing: readonly string[];
  readonly lacking: readonly string[];
  readonly violations: readonly string[];
  readonly output: string;
}

/** A run that shows nothing is no pass either. */
export function isPassed({ violations, missing, operations }: NemesisResult): boolean {
  return violations.length === 0 && missing.length === 0 && operations > 0;
}

/** The table, the violations and the verdict. */
export function describeResult(result: NemesisResult): string {
  const { members, seed, durationMs, operations, acknowledgedWrites, unknown, failed, writeGapMs } = result;
  const lines = [
    `members ${members}  seed ${seed}  ${(durationMs / 1000).toFixed(0)} s`,
    `operations ${operations}  acknowledged writes ${acknowledgedWrites}  unknown outcomes ${unknown}  failed ${failed}` +
      `  longest time without an acknowledged write ${(writeGapMs / 1000).toFixed(1)} s`,
    "",
    ...tableOf(result.faults),
    "",
    ...result.lacking,
    ...result.missing.map((kind) => `planned, never landed: ${kind}`),
    ...result.violations.map((violation) => `VIOLATION ${violation}`),
    `violations ${result.violations.length}  ${isPassed(result) ? "passed" : "FAILED"}`,
    `history, logs and time line: ${result.output}`,
  ];
  return lines.join("\n");
}

function tableOf(faults: readonly FaultRecord[]): string[] {
  const kinds = [...Map.groupBy(faults, ({ kind }) => kind)].sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(0, ...kinds.map(([kind]) => kind.length));
  const row = (kind: string, ...cells: readonly (string | number)[]): string =>
    `${kind.padEnd(width)}${cells.map((cell) => String(cell).padStart(9)).join("")}`;
  const count = (of: readonly FaultRecord[], result: Landing["result"]): number =>
    of.filter((fault) => fault.result === result).length;
  const cells = (of: readonly FaultRecord[]) => [count(of, "landed"), count(of, "skipped"), count(of, "unclear")];
  return [
    row("fault", "landed", "skipped", "unclear"),
    ...kinds.map(([kind, of]) => row(kind, ...cells(of))),
    row("all", ...cells(faults)),
  ];
}

/** Adds a fault to the time line. */
export function writeFault(output: string, fault: FaultRecord): void {
  appendFileSync(join(output, "faults.jsonl"), `${JSON.stringify(fault)}\n`);
}

/** Writes the history, an operation a line; an end that never came is null. */
export function writeHistory(output: string, operations: readonly RecordedOperation[]): void {
  writeFileSync(
    join(output, "history.jsonl"),
    operations.map((operation) => `${JSON.stringify(operation)}\n`).join(""),
  );
}

/** Writes what the members said when the run had failed. */
export function writeStates(output: string, states: string): void {
  writeFileSync(join(output, "states.txt"), `${states}\n`);
}

/** Writes the summary as it was printed, and as data. */
export function writeSummary(output: string, result: NemesisResult): void {
  writeFileSync(join(output, "summary.txt"), `${describeResult(result)}\n`);
  writeFileSync(join(output, "summary.json"), `${JSON.stringify(result, null, 2)}\n`);
}
