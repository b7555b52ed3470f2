/**
 * The record: for each mutant, the killer that the last search found, and whether the simulator catches it.
 *
 * Only `npm run mutants -- --search` writes `record.json`; people read it in review.
 */

import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Killer } from "./killer.ts";

export interface Found {
  /** What catches the mutant, or null if nothing does. */
  readonly killer: Killer | null;
  /** The rule, or the first line of the failure. */
  readonly rule: string;
  /** The result of the simulator. */
  readonly simulator: string;
}

const FILE = path.join(import.meta.dirname, "record.json");

/** By name, in the order of the file. */
export function readRecord(): Map<string, Found> {
  return new Map(Object.entries(JSON.parse(readFileSync(FILE, "utf8")) as Record<string, Found>));
}

/** Writes the named mutants in their order, and drops all others. */
export function writeRecord(record: ReadonlyMap<string, Found>, names: readonly string[]): void {
  const kept = names.flatMap((name) => {
    const found = record.get(name);
    return found === undefined ? [] : [[name, found] as const];
  });
  const text = JSON.stringify(Object.fromEntries(kept), null, 2);
  // Pairs of numbers on one line, as the formatter of the repository writes them.
  writeFileSync(FILE, `${text.replaceAll(/\[\s+(\d+),\s+(\d+)\s+\]/g, "[$1, $2]")}\n`);
}
