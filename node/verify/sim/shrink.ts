/**
 * Makes the script of a failed run as short as possible: it removes everything that the broken rule does not need.
 *
 * It first removes the part after the failure, then ever smaller parts of the items (ddmin; Zeller, Hildebrandt 2002),
 * then members and time. A shorter script counts only if it breaks the same rule.
 */

import type { RunResult } from "./run-result.ts";
import type { Script, ScriptItem } from "./script.ts";
import { Simulation } from "./simulation.ts";

export interface Shrunk {
  readonly result: RunResult;
  /** How many runs it took. */
  readonly runs: number;
}

const RUNS_MAX = 200;
/** Milliseconds to try between the last item and the end. */
const SLACK_MS = [0, 1_000, 5_000];

type Simulate = (script: Script) => RunResult | Promise<RunResult>;

/** The failed run of the shortest script that was found, or of the given one. */
export async function shrink(
  failed: RunResult,
  simulate: Simulate = simulateOnce,
  runsMax = RUNS_MAX,
): Promise<Shrunk> {
  const shrinking = new Shrinking(failed, simulate, runsMax);
  await shrinking.run();
  return { result: shrinking.result, runs: shrinking.runs };
}

function simulateOnce(script: Script): Promise<RunResult> {
  return new Simulation(script).run();
}

class Shrinking {
  readonly #rule: string;
  readonly #simulate: Simulate;
  readonly #runsMax: number;
  /** The run of the shortest script so far. */
  result: RunResult;
  runs = 0;

  constructor(failed: RunResult, simulate: Simulate, runsMax: number) {
    this.#simulate = simulate;
    this.#rule = failed.failure?.rule ?? "";
    this.#runsMax = runsMax;
    this.result = failed;
  }

  async run(): Promise<void> {
    const { nowMs, grownMs, script } = this.result;
    await this.#tryItems(script.items.filter(({ atMs }) => atMs <= nowMs - grownMs));
    for (const what of [
      "change",
      "operation",
      "lock",
      "semaphore",
      "memory",
      "log",
      "watch",
      "revocation",
      "store",
      "fault",
    ] as const) {
      await this.#tryItems(this.result.script.items.filter((item) => item.what !== what));
    }
    await this.#shrinkItems();
    for (const members of [1, 3]) {
      const { plan } = this.result.script;
      if (members < plan.members) {
        await this.#try({ ...this.result.script, plan: { ...plan, members } });
      }
    }
    await this.#shrinkTime();
  }

  async #shrinkItems(): Promise<void> {
    let parts = 2;
    while (this.result.script.items.length > 0 && this.runs < this.#runsMax) {
      const { items } = this.result.script;
      const size = Math.ceil(items.length / parts);
      let isShorter = false;
      for (let from = 0; from < items.length && !isShorter; from += size) {
        isShorter = await this.#tryItems([...items.slice(0, from), ...items.slice(from + size)]);
      }
      if (isShorter) {
        parts = Math.max(parts - 1, 2);
      } else if (size === 1) {
        return;
      } else {
        parts = Math.min(2 * parts, items.length);
      }
    }
  }

  /** Tries to end the faults right after the last item, or a little later. */
  async #shrinkTime(): Promise<void> {
    const { plan, items } = this.result.script;
    const endMs = items.at(-1)?.atMs ?? 0;
    for (const airMs of SLACK_MS) {
      const isShorter = endMs + airMs < plan.durationMs;
      if (isShorter && (await this.#try({ ...this.result.script, plan: { ...plan, durationMs: endMs + airMs } }))) {
        return;
      }
    }
  }

  async #tryItems(items: readonly ScriptItem[]): Promise<boolean> {
    return items.length < this.result.script.items.length && (await this.#try({ ...this.result.script, items }));
  }

  /** Takes the script if it breaks the same rule. */
  async #try(script: Script): Promise<boolean> {
    if (this.runs >= this.#runsMax) {
      return false;
    }
    this.runs++;
    const result = await this.#simulate(script);
    const isKept = result.failure?.rule === this.#rule;
    this.result = isKept ? result : this.result;
    return isKept;
  }
}
