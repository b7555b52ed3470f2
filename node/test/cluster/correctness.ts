/** Judges the recorded history of a load, by all oracles. */

import { type History, judgeHistory, SEARCH_LIMIT_MS } from "../../verify/history/index.ts";

/** Throws an error with the contradictions unless both checks find the history correct. */
export function requireCorrect(history: History): void {
  const wrong = judgeHistory(history.operations, { nowMs: () => performance.now(), limitMs: SEARCH_LIMIT_MS });
  if (wrong.length > 0) {
    throw new Error(wrong.join("\n"));
  }
}
