/** Both oracles together: the one judgement of any recorded history. */

import type { RecordedOperation } from "./history.ts";
import { describeVerdict } from "./report.ts";
import { componentsOf, type SearchOptions, searchCheck } from "./search.ts";
import { witnessCheck } from "./witness.ts";

/**
 * Returns the contradictions in the history in words; empty if it is correct. A search that runs out of time has proved
 * nothing, and counts as a contradiction. Each key, and all keys that steps have joined, have the whole time of the
 * search for themselves. All wrong keys are reported.
 */
export function judgeHistory(operations: readonly RecordedOperation[], search: SearchOptions): readonly string[] {
  const wrong: string[] = [];
  const witness = witnessCheck(operations);
  if (witness.kind !== "correct") {
    wrong.push(describeVerdict(witness));
  }
  for (const ofKeys of componentsOf(operations)) {
    const verdict = searchCheck(ofKeys, search);
    if (verdict.kind !== "correct") {
      wrong.push(describeVerdict(verdict));
    }
  }
  return wrong;
}
