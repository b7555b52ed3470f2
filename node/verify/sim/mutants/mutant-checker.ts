/** Checks that the recorded killer catches each mutant, and passes without it. */

import { describeKiller, type Killer, SCENARIOS_SPEC, titleOfScenario } from "./killer.ts";
import { runKiller, runSpecs, type Verdict } from "./killer-run.ts";
import { type Mutant, mutated, StaleMutant, sourceOf } from "./mutant.ts";
import type { Found } from "./record.ts";

/** The result for a mutant. */
export interface MutantResult {
  readonly mutant: Mutant;
  readonly isKilled: boolean;
  readonly killer: string;
  /** The rule that caught it, or why the suite fails. */
  readonly line: string;
  readonly durationMs: number;
}

/** A killer that is part of a spec file. */
type TestKiller = Exclude<Killer, { seeds: unknown }>;

/** Far longer than a recorded killer takes on a busy machine. */
const KILLER_LIMIT_MS = 180_000;

export class MutantChecker {
  readonly #record: ReadonlyMap<string, Found>;
  /** The results for the product without a mutant: for each spec file that of all its killers, in one process. */
  readonly #unmutated = new Map<string, Promise<Verdict>>();

  constructor(record: ReadonlyMap<string, Found>) {
    this.#record = record;
  }

  async check(mutant: Mutant): Promise<MutantResult> {
    const killer = this.#record.get(mutant.name)?.killer ?? null;
    const startedMs = performance.now();
    const told = (isKilled: boolean, line: string): MutantResult => ({
      mutant,
      isKilled,
      killer: killer === null ? "" : describeKiller(killer),
      line,
      durationMs: performance.now() - startedMs,
    });
    const stale = staleness(mutant);
    if (stale !== null) {
      return told(false, stale);
    }
    if (killer === null) {
      return told(false, "nothing is known to catch it: look for a killer with --search");
    }
    const verdict = await runKiller(killer, mutant, KILLER_LIMIT_MS);
    if (verdict.kind !== "failed") {
      return told(false, verdict.kind === "passed" ? "SURVIVED" : `no verdict: ${verdict.why}`);
    }
    const unmutated = await this.#without(killer);
    return unmutated.kind === "passed"
      ? told(true, verdict.rule)
      : told(false, `its killer fails without it: ${unmutated.kind === "failed" ? unmutated.rule : unmutated.why}`);
  }

  #without(killer: Killer): Promise<Verdict> {
    const key = "seeds" in killer ? JSON.stringify(killer) : specOf(killer);
    const verdict = this.#unmutated.get(key) ?? this.#runWithout(killer);
    this.#unmutated.set(key, verdict);
    return verdict;
  }

  #runWithout(killer: Killer): Promise<Verdict> {
    if ("seeds" in killer) {
      return runKiller(killer, null, KILLER_LIMIT_MS);
    }
    const spec = specOf(killer);
    const titles = [...this.#record.values()].flatMap((found) => {
      return found.killer === null || "seeds" in found.killer || specOf(found.killer) !== spec
        ? []
        : [titleOf(found.killer)];
    });
    return runSpecs([spec], { pattern: titles.map(RegExp.escape).join("|") }, null, KILLER_LIMIT_MS);
  }
}

/** The spec file of a killer. */
function specOf(killer: TestKiller): string {
  return "scenario" in killer ? SCENARIOS_SPEC : killer.spec;
}

/** A part of the titles of its tests; "" if all of them run. */
function titleOf(killer: TestKiller): string {
  return "scenario" in killer ? titleOfScenario(killer.scenario) : (killer.grep ?? "");
}

/** Why the mutant is stale, or null. */
export function staleness(mutant: Mutant): string | null {
  try {
    mutated(sourceOf(mutant), mutant);
    return null;
  } catch (error) {
    if (error instanceof StaleMutant) {
      return error.message;
    }
    throw error;
  }
}
