/** Checks that the recorded killer catches each mutant, and passes without it. */

import { describeKiller, type Killer } from "./killer.ts";
import { runKiller, type Verdict } from "./killer-run.ts";
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

/** Far longer than a recorded killer takes on a busy machine. */
const KILLER_LIMIT_MS = 180_000;

export class MutantChecker {
  readonly #record: ReadonlyMap<string, Found>;
  /** The results of the killers for the product without a mutant. */
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
    const key = JSON.stringify(killer);
    const verdict = this.#unmutated.get(key) ?? runKiller(killer, null, KILLER_LIMIT_MS);
    this.#unmutated.set(key, verdict);
    return verdict;
  }
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
