/**
 * `npm run mutants`: runs every mutant against what the record says catches it, and prints who caught it by which rule.
 *
 *     npm run mutants                                   all of them
 *     npm run mutants -- --only NAME                    one; may be repeated
 *     npm run mutants -- --choose 12 --by TEXT          so many, chosen by the text
 *     npm run mutants -- --search                       looks for killers anew and rewrites the record; with --only,
 *                                                       of those; with --unknown, of those that have none
 *     npm run mutants -- --search --among specs         only among specs and scenarios, or only in the `simulator`
 *     npm run mutants -- --search --seeds 2000          seeds that the simulator tries, instead of 60
 *
 * Ends with the exit code 1 if a mutant survives or is stale, or if its killer fails without it.
 */

import { parseArgs } from "node:util";
import { MUTANTS, mutantNamed } from "./catalogue.ts";
import { choose } from "./choice.ts";
import { Judge, type Judgement, staleness } from "./judgement.ts";
import { describeKiller } from "./killer.ts";
import type { Mutant } from "./mutant.ts";
import { type Found, readRecord, writeRecord } from "./record.ts";
import { search, searchSpecs, simulate } from "./search.ts";
import { stopOnSignals } from "./trial.ts";
import { twoAtATime } from "./two-at-a-time.ts";

const { values } = parseArgs({
  options: {
    search: { type: "boolean", default: false },
    among: { type: "string", default: "all" },
    unknown: { type: "boolean", default: false },
    seeds: { type: "string", default: "60" },
    only: { type: "string", multiple: true },
    choose: { type: "string" },
    by: { type: "string", default: "" },
  },
});

function selected(): readonly Mutant[] {
  const known = values.unknown ? readRecord() : new Map<string, Found>();
  const all = values.only?.map(mutantNamed) ?? MUTANTS;
  const named = all.filter(({ name }) => !known.get(name)?.killer);
  return values.choose === undefined ? named : choose(named, Number(values.choose), values.by);
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

function printJudgement({ mutant, isKilled, killer, line, durationMs }: Judgement): void {
  const verdict = isKilled ? "killed" : "FAILED";
  const about = [mutant.name, mutant.pitfall, killer, line, seconds(durationMs)];
  process.stdout.write(`${verdict}  ${about.join("  |  ")}\n`);
}

async function runAll(mutants: readonly Mutant[]): Promise<number> {
  const judge = new Judge(readRecord());
  const judgements = await twoAtATime(mutants, async (mutant) => {
    const judgement = await judge.judge(mutant);
    printJudgement(judgement);
    return judgement;
  });
  const failed = judgements.filter(({ isKilled }) => !isKilled);
  for (const judgement of failed) {
    printJudgement(judgement);
  }
  process.stdout.write(`${judgements.length - failed.length} killed, ${failed.length} failed\n`);
  return failed.length;
}

/** What is known of the mutant afterwards, if all of it or only a part is looked for. */
async function find(mutant: Mutant, known: Found | undefined): Promise<Found> {
  const seeds = Number(values.seeds);
  if (values.among === "specs") {
    return { killer: null, rule: "", simulator: known?.simulator ?? "", ...(await searchSpecs(mutant)) };
  }
  if (values.among === "simulator") {
    const simulated = await simulate(mutant, seeds);
    return known?.killer && !("seeds" in known.killer) ? { ...known, simulator: simulated.simulator } : simulated;
  }
  return await search(mutant, seeds);
}

async function searchAll(mutants: readonly Mutant[]): Promise<number> {
  const record = readRecord();
  const names = MUTANTS.map(({ name }) => name);
  let failures = 0;
  await twoAtATime(mutants, async (mutant) => {
    const startedMs = performance.now();
    const stale = staleness(mutant);
    if (stale === null) {
      const found = await find(mutant, record.get(mutant.name));
      record.set(mutant.name, found);
      writeRecord(record, names);
      const killer = found.killer === null ? "SURVIVED" : describeKiller(found.killer);
      const about = [mutant.name, mutant.pitfall, killer, found.rule, found.simulator];
      process.stdout.write(`${about.join("  |  ")}  |  ${seconds(performance.now() - startedMs)}\n`);
      failures += found.killer === null ? 1 : 0;
    } else {
      process.stdout.write(`${stale}\n`);
      failures++;
    }
  });
  process.stdout.write(`${mutants.length - failures} killed, ${failures} failed\n`);
  return failures;
}

if (!["all", "specs", "simulator"].includes(values.among)) {
  throw new Error(`--among says all, specs or simulator, not "${values.among}"`);
}
stopOnSignals();
const failures = values.search ? await searchAll(selected()) : await runAll(selected());
process.exitCode = failures > 0 ? 1 : 0;
