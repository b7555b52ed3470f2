/**
 * The marks of the program that are reached, and by what: the simulator, or else a spec. A mark that nothing reaches is
 * a place in the program that no test covers.
 */

import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** The environment variable with the file that the witness of the specs writes. */
export const WITNESS_VARIABLE = "QUOIN_MARK_WITNESS";
/** The name of the simulator in the record. Every other name is the path of a spec below the folder of the member. */
export const SIMULATOR = "simulator";

const NODE_FOLDER = path.join(import.meta.dirname, "../..");
const FILE = path.join(import.meta.dirname, "marks.json");
const WITNESS = path.join(import.meta.dirname, "mark-witness.ts");
/** Files with marks. Marks at which whole processes end are not among them: `crash-point.ts` lists those. */
const SPECS = ["src/raft/**/*.spec.ts", "src/replica/**/*.spec.ts"];
const MARK = /\bmark\(([^;]*)\)/g;
const NAME = /"([a-z][\w.-]+)"/g;

/** What reaches each mark. */
export type MarkRecord = ReadonlyMap<string, string>;

/** Names of all marks of the program, in alphabetical order. */
export function marksOfProgram(): string[] {
  const names = new Set<string>();
  for (const file of globSync("src/**/*.ts", { cwd: NODE_FOLDER })) {
    if (!file.endsWith(".spec.ts")) {
      const source = readFileSync(path.join(NODE_FOLDER, file), "utf8");
      for (const [, argument = ""] of source.matchAll(MARK)) {
        for (const [, name = ""] of argument.matchAll(NAME)) {
          names.add(name);
        }
      }
    }
  }
  return [...names].sort();
}

export function readMarkRecord(): MarkRecord {
  return new Map(Object.entries(JSON.parse(readFileSync(FILE, "utf8"))));
}

/** Path of a file that the record names. */
export function specOf(by: string): string {
  return path.join(NODE_FOLDER, by);
}

/** Writes the record: what these runs of the simulator have reached, and what the specs reach besides. */
export function recordMarks(reached: ReadonlyMap<string, number>): void {
  const bySpecs = runSpecs();
  const record: Record<string, string> = {};
  for (const mark of marksOfProgram()) {
    record[mark] = reached.has(mark) ? SIMULATOR : (bySpecs.get(mark) ?? "");
  }
  writeFileSync(FILE, `${JSON.stringify(record, null, 2)}\n`);
}

/** The first spec that passes each mark. */
function runSpecs(): Map<string, string> {
  const folder = mkdtempSync(path.join(tmpdir(), "quoin-marks-"));
  try {
    const file = path.join(folder, "marks.json");
    const specs = globSync(SPECS, { cwd: NODE_FOLDER }).sort();
    const env = { ...process.env, [WITNESS_VARIABLE]: file };
    spawnSync("mocha", ["--require", WITNESS, "--reporter", "dot", ...specs], {
      cwd: NODE_FOLDER,
      env,
      stdio: "inherit",
    });
    const pairs = JSON.parse(readFileSync(file, "utf8")) as [string, string][];
    return new Map(pairs.map(([mark, spec]) => [mark, path.relative(NODE_FOLDER, spec)]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
