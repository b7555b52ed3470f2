/**
 * Finds what catches a mutant. It first tries the tests of its folder that name its pitfall, because they describe the
 * bug best. Then it tries all others: those of the spec beside its file, scenarios for files of the consensus core, and
 * other specs of the folder. Last come seeds of the simulator. A killer must catch the mutant twice, and pass without
 * it.
 */

import { globSync, readFileSync } from "node:fs";
import path from "node:path/posix";
import { type Killer, killerOf, SCENARIOS_SPEC, titleOfScenario } from "./killer.ts";
import { runKiller, runSeeds, runSpecs } from "./killer-run.ts";
import { fileOf, type Mutant, repositoryRoot } from "./mutant.ts";
import type { Found } from "./record.ts";
import type { TestFilter } from "./spec-messages.ts";

/** How long all specs of a folder may take on a busy machine, and also all seeds. */
const SPECS_LIMIT_MS = 400_000;
const SEEDS_LIMIT_MS = 600_000;
const FIRST_SEED = 1;
/** The folder that the scenarios run. */
const CORE = "node/src/raft";
/** The specs of all its folders count for each of them. */
const STATE = "node/src/state/";
/** The simulator has its own disks and connections: it replaces these files, and runs none of their code. */
const NOT_SIMULATED = [/^storage\//, /^peers\/(?!hello\.ts)/];
/** Unreliable killers are left out; if there are more than this, something else is wrong. */
const ATTEMPTS_MAX = 4;

/** The killer of the mutant, and the result of the simulator within this number of seeds. */
export async function search(mutant: Mutant, seeds: number): Promise<Found> {
  const bySpecs = await searchSpecs(mutant);
  const simulated = await simulate(mutant, seeds);
  if (bySpecs !== null) {
    return { ...bySpecs, simulator: simulated.simulator };
  }
  return simulated;
}

/** The same, among specs and scenarios only. */
export async function searchSpecs(mutant: Mutant): Promise<Pick<Found, "killer" | "rule"> | null> {
  for (const { files, filter } of specsFor(mutant)) {
    const found = await searchIn(files, filter, mutant);
    if (found !== null) {
      return found;
    }
  }
  return null;
}

/** The same, in the simulator only. */
export async function simulate(mutant: Mutant, seeds: number): Promise<Found> {
  const elsewhere: Found = { killer: null, rule: "", simulator: "does not run this file" };
  if (NOT_SIMULATED.some((files) => files.test(mutant.file))) {
    return elsewhere;
  }
  const first = await runSeeds([FIRST_SEED, 1], mutant, SEEDS_LIMIT_MS);
  if (!first.isInPlace) {
    return elsewhere;
  }
  for (let seed = first.kind === "passed" ? FIRST_SEED + 1 : FIRST_SEED; seed < FIRST_SEED + seeds; ) {
    const verdict = await runSeeds([seed, FIRST_SEED + seeds - seed], mutant, SEEDS_LIMIT_MS);
    if (verdict.kind === "passed") {
      break;
    }
    if (verdict.kind === "doubtful") {
      return { killer: null, rule: "", simulator: `no verdict: ${verdict.why}` };
    }
    const killer: Killer = { seeds: [Number(verdict.title), 1] };
    if ((await runKiller(killer, null, SEEDS_LIMIT_MS)).kind === "passed") {
      return { killer, rule: verdict.rule, simulator: `seed ${verdict.title}: ${verdict.rule}` };
    }
    // A seed that also fails without the mutant proves nothing about it.
    seed = Number(verdict.title) + 1;
  }
  return { killer: null, rule: "", simulator: `survives ${seeds} seeds` };
}

async function searchIn(
  files: readonly string[],
  filter: TestFilter,
  mutant: Mutant,
): Promise<Pick<Found, "killer" | "rule"> | null> {
  let left = files;
  for (let attempt = 0; attempt < ATTEMPTS_MAX && left.length > 0; attempt++) {
    const verdict = await runSpecs(left, filter, mutant, SPECS_LIMIT_MS);
    if (verdict.kind !== "failed") {
      return null;
    }
    const killer = killerOf(verdict.file, verdict.title);
    if (await holds(killer, mutant)) {
      return { killer, rule: verdict.rule };
    }
    left = left.filter((file) => file !== verdict.file);
  }
  return null;
}

/** Whether the killer fails with the mutant again, and passes without it. */
async function holds(killer: Killer, mutant: Mutant): Promise<boolean> {
  const again = await runKiller(killer, mutant, SPECS_LIMIT_MS);
  const without = await runKiller(killer, null, SPECS_LIMIT_MS);
  return again.kind === "failed" && without.kind === "passed";
}

/**
 * Spec files from the root of the repository, in groups that run one after the other, with the filter of their tests.
 */
function specsFor(mutant: Mutant): { readonly files: string[]; readonly filter: TestFilter }[] {
  const file = fileOf(mutant);
  const folder = path.dirname(file);
  const beside = file.replace(/\.ts$/, ".spec.ts");
  const all = globSync(`${folder}/`.startsWith(STATE) ? `${STATE}**/*.spec.ts` : `${folder}/*.spec.ts`, {
    cwd: repositoryRoot,
  }).sort();
  const isCore = folder === CORE;
  const scenarios = isCore ? [SCENARIOS_SPEC] : [];
  const named = `\\b${mutant.pitfall}\\b`;
  const pattern = isCore ? [named, ...scenariosAbout(new RegExp(named)).map(titleOfScenario)].join("|") : named;
  return [
    { files: [...scenarios, ...all], filter: { pattern } },
    { files: all.filter((spec) => spec === beside), filter: {} },
    { files: scenarios, filter: {} },
    { files: all.filter((spec) => spec !== beside), filter: {} },
  ].filter(({ files }) => files.length > 0);
}

/** Names of the scenarios whose text mentions it. */
function scenariosAbout(about: RegExp): string[] {
  const folder = path.join(repositoryRoot, path.dirname(SCENARIOS_SPEC));
  return globSync("*.txt", { cwd: folder })
    .filter((name) => about.test(readFileSync(path.join(folder, name), "utf8")))
    .map((name) => name.replace(/\.txt$/, ""));
}
