/** Judges what a load has recorded, by all oracles. */

import { describeVerdict, type History, SEARCH_LIMIT_MS, searchCheck, witnessCheck } from "../../history/index.ts";

/** Raises an error with the contradiction unless both checks find the history correct. */
export function requireCorrect(history: History): void {
  const { operations } = history;
  const search = { nowMs: () => performance.now(), limitMs: SEARCH_LIMIT_MS };
  for (const verdict of [witnessCheck(operations), searchCheck(operations, search)]) {
    if (verdict.kind !== "correct") {
      throw new Error(describeVerdict(verdict));
    }
  }
}
