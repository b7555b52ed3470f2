/** The result of a run: a table for people, and files with the details. */

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FaultResult } from "./fault.ts";
import type { OutcomeCount } from "./outcome-counts.ts";

/** A fault that was made or attempted. Times are milliseconds since the load began. */
export interface FaultRecord extends FaultResult {
  readonly kind: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface NemesisResult {
  readonly seed: number;
  readonly members: number;
  readonly durationMs: number;
  /** Outcomes of all operations, by kind. */
  readonly outcomes: readonly OutcomeCount[];
  /** Further results of the loads, one line each. */
  readonly facts: readonly string[];
  /** Writes of keys without a time to live. */
  readonly acknowledgedWrites: number;
  /** The longest time without one, in milliseconds. */
  readonly writeGapMs: number;
  /** Terms that had a leader. */
  readonly elections: number;
  readonly faults: readonly FaultRecord[];
  /** Planned kinds that never landed. */
  readonly missing: readonly string[];
  /** Kinds that the run was too short to plan, and that did not land. */
  readonly unplanned: readonly string[];
  readonly lacking: readonly string[];
  readonly violations: readonly string[];
  readonly output: string;
}

/** Wider than any number and column title. */
const CELL_WIDTH = 14;

/** Whether the run passed. A run without acknowledged writes does not pass. */
export function isPassed({ violations, missing, acknowledgedWrites }: NemesisResult): boolean {
  return violations.length === 0 && missing.length === 0 && acknowledgedWrites > 0;
}

/** The table, the violations and the verdict. */
export function describeResult(result: NemesisResult): string {
  const { members, seed, durationMs, outcomes, facts, elections, writeGapMs, unplanned } = result;
  const lines = [
    `members ${members}  seed ${seed}  ${seconds(durationMs)} s`,
    `elections ${elections}  longest time without an acknowledged write ${seconds(writeGapMs)} s`,
    ...facts,
    "",
    ...tableOf("operation", ["ok", "not executed", "unknown"], rowsOf(outcomes)),
    "",
    ...tableOf("fault", ["landed", "skipped", "unclear"], faultRowsOf(result.faults)),
    "",
    ...result.lacking,
    ...(unplanned.length === 0 ? [] : [`the run was too short for: ${unplanned.join("; ")}`]),
    ...result.missing.map((kind) => `planned, never landed: ${kind}`),
    ...result.violations.map((violation) => `VIOLATION ${violation}`),
    `violations ${result.violations.length}  ${isPassed(result) ? "passed" : "FAILED"}`,
    `histories, logs and time line: ${result.output}`,
  ];
  return lines.join("\n");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

/** A name, and a number for each column. */
type Row = readonly [string, ...number[]];

function rowsOf(outcomes: readonly OutcomeCount[]): readonly Row[] {
  return outcomes.map(({ kind, ok, notExecuted, unknown }) => [kind, ok, notExecuted, unknown]);
}

function faultRowsOf(faults: readonly FaultRecord[]): readonly Row[] {
  const count = (of: readonly FaultRecord[], result: FaultResult["result"]): number =>
    of.filter((fault) => fault.result === result).length;
  return [...Map.groupBy(faults, ({ kind }) => kind)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, of]) => [kind, count(of, "landed"), count(of, "skipped"), count(of, "unclear")]);
}

/** The lines of a table, with the sums of all rows at the end. */
function tableOf(title: string, columns: readonly string[], rows: readonly Row[]): string[] {
  const sums = columns.map((_, at) => rows.reduce((sum, row) => sum + Number(row[at + 1]), 0));
  const width = Math.max(title.length, ...rows.map(([name]) => name.length));
  const line = (name: string, cells: readonly (string | number)[]): string =>
    `${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(CELL_WIDTH)).join("")}`;
  return [line(title, columns), ...rows.map(([name, ...cells]) => line(name, cells)), line("all", sums)];
}

/** Adds a fault to the time line. */
export function writeFault(output: string, fault: FaultRecord): void {
  appendFileSync(join(output, "faults.jsonl"), `${JSON.stringify(fault)}\n`);
}

/** Writes a history, one operation a line; the end of an unfinished operation is null. */
export function writeLines(output: string, file: string, operations: readonly object[]): void {
  writeFileSync(join(output, file), operations.map((operation) => `${JSON.stringify(operation)}\n`).join(""));
}

/** Writes the members' states after a failed run. */
export function writeStates(output: string, states: string): void {
  writeFileSync(join(output, "states.txt"), `${states}\n`);
}

/** Writes the summary as it was printed, and as data. */
export function writeSummary(output: string, result: NemesisResult): void {
  writeFileSync(join(output, "summary.txt"), `${describeResult(result)}\n`);
  writeFileSync(join(output, "summary.json"), `${JSON.stringify(result, null, 2)}\n`);
}
