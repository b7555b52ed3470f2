/**
 * `npm run mutants`: runs every mutant against its recorded killer. It prints a table: the killer, the rule that it
 * found broken, and what the simulator alone finds.
 *
 *     npm run mutants                                   all of them
 *     npm run mutants -- --only NAME                    one; may be repeated
 *     npm run mutants -- --choose 12 --by TEXT          this many, chosen by the text
 *     npm run mutants -- --search                       searches for killers and rewrites the record; with --only,
 *                                                       of those mutants; with --unknown, of those without a killer
 *     npm run mutants -- --search --among specs         only among specs and scenarios, or only in the `simulator`
 *     npm run mutants -- --search --seeds 2000          seeds that the simulator tries, instead of 60
 *
 * Ends with the line `N killed, N failed`. The exit code is 1 if a mutant survives or is stale, or if its killer fails
 * without it. It is 2 for wrong arguments, and if they leave no mutant to try.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { mapWithLimit } from "../../../../testing/index.ts";
import { UsageError } from "../../../src/command-line/index.ts";
import { MUTANTS, mutantNamed } from "./catalogue.ts";
import { choose } from "./choice.ts";
import { describeKiller } from "./killer.ts";
import { stopOnSignals } from "./killer-run.ts";
import type { Mutant } from "./mutant.ts";
import { checkAll, type MutantResult, staleness } from "./mutant-checker.ts";
import { type MutantOptions, readOptions, type Search } from "./options.ts";
import { type Found, readRecord, writeRecord } from "./record.ts";
import { search, searchSpecs, simulate } from "./search.ts";
import { describeTable, type Row } from "./table.ts";

const WRONG_ARGUMENTS = 2;
/** The suite is measured on two cores. */
const RUNS_AT_A_TIME = 2;

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function selected({ only, choice, search: searching }: MutantOptions): readonly Mutant[] {
  const known = searching?.isForUnknown === true ? readRecord() : new Map<string, Found>();
  const named = (only?.map(mutantNamed) ?? MUTANTS).filter(({ name }) => !known.get(name)?.killer);
  return choice === null ? named : choose(named, choice.count, choice.by);
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

function printResult({ mutant, isKilled, killer, line }: MutantResult): void {
  const about = [mutant.name, mutant.pitfall, killer, line];
  printLine(`${isKilled ? "killed" : "FAILED"}  ${about.join("  |  ")}`);
}

async function runAll(mutants: readonly Mutant[]): Promise<number> {
  const record = readRecord();
  const options = { atATime: RUNS_AT_A_TIME, isControlled: true, onResult: printResult };
  const results = await checkAll(mutants, record, options);
  const failed = results.filter(({ isKilled }) => !isKilled);
  const rows = results.map(({ mutant, isKilled, killer, line }): Row => {
    const simulator = record.get(mutant.name)?.simulator ?? "";
    return { mutant, rule: isKilled ? line : `FAILED: ${line}`, killer, simulator };
  });
  printLine(`\n${describeTable(rows)}\n`);
  for (const result of failed) {
    printResult(result);
  }
  printLine(`${results.length - failed.length} killed, ${failed.length} failed`);
  return failed.length;
}

/** What is known of the mutant after a full or a partial search. */
async function find(mutant: Mutant, known: Found | undefined, { among, seeds }: Search): Promise<Found> {
  if (among === "specs") {
    return { killer: null, rule: "", simulator: known?.simulator ?? "", ...(await searchSpecs(mutant)) };
  }
  if (among === "simulator") {
    const simulated = await simulate(mutant, seeds);
    return known?.killer && !("seeds" in known.killer) ? { ...known, simulator: simulated.simulator } : simulated;
  }
  return await search(mutant, seeds);
}

async function searchAll(mutants: readonly Mutant[], searching: Search): Promise<number> {
  const record = readRecord();
  const names = MUTANTS.map(({ name }) => name);
  const rows = await mapWithLimit(mutants, RUNS_AT_A_TIME, async (mutant): Promise<Row> => {
    const startedMs = performance.now();
    const stale = staleness(mutant);
    if (stale !== null) {
      printLine(stale);
      return { mutant, rule: stale, killer: "", simulator: "" };
    }
    const found = await find(mutant, record.get(mutant.name), searching);
    record.set(mutant.name, found);
    writeRecord(record, names);
    const killer = found.killer === null ? "" : describeKiller(found.killer);
    const about = [mutant.name, mutant.pitfall, killer || "SURVIVED", found.rule, found.simulator];
    printLine(`${about.join("  |  ")}  |  ${seconds(performance.now() - startedMs)}`);
    return { mutant, rule: killer === "" ? "SURVIVED" : found.rule, killer, simulator: found.simulator };
  });
  const failures = rows.filter(({ killer }) => killer === "").length;
  printLine(`\n${describeTable(rows)}\n`);
  printLine(`${rows.length - failures} killed, ${failures} failed`);
  return failures;
}

/** Hundreds of runs load much of the same code: each takes what an earlier one has compiled. */
function shareCompiledCode(): void {
  const folder = mkdtempSync(path.join(tmpdir(), "quoin-compiled-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  process.env.NODE_COMPILE_CACHE = folder;
}

async function main(): Promise<boolean> {
  const options = readOptions(process.argv.slice(2));
  if (options === null) {
    return true;
  }
  const mutants = selected(options);
  if (mutants.length === 0) {
    throw new UsageError("there is no mutant to try");
  }
  stopOnSignals();
  shareCompiledCode();
  const failures = options.search === null ? await runAll(mutants) : await searchAll(mutants, options.search);
  return failures === 0;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  if (!(error instanceof UsageError)) {
    throw error;
  }
  process.stderr.write(`${error.message.replaceAll("\n", " ")}\n`);
  process.exitCode = WRONG_ARGUMENTS;
}
