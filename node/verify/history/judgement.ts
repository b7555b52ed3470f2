/** Both oracles together: the one judgement of any recorded history. */

import type { RecordedOperation } from "./history.ts";
import { describeVerdict } from "./report.ts";
import { type SearchOptions, searchCheck } from "./search.ts";
import { witnessCheck } from "./witness.ts";

/**
 * Returns the contradictions in the history in words; empty if it is correct. A search that runs out of time has proved
 * nothing, and counts as a contradiction. Each key has the whole time of the search for itself. All wrong keys are
 * reported.
 */
export function judgeHistory(operations: readonly RecordedOperation[], search: SearchOptions): readonly string[] {
  const wrong: string[] = [];
  const witness = witnessCheck(operations);
  if (witness.kind !== "correct") {
    wrong.push(describeVerdict(witness));
  }
  for (const ofKey of Map.groupBy(operations, ({ operation }) => operation.key).values()) {
    const verdict = searchCheck(ofKey, search);
    if (verdict.kind !== "correct") {
      wrong.push(describeVerdict(verdict));
    }
  }
  return wrong;
}
