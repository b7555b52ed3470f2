/** Both oracles together: the one judgement of a history, whoever has recorded it. */

import type { RecordedOperation } from "./history.ts";
import { describeVerdict } from "./report.ts";
import { type SearchOptions, searchCheck } from "./search.ts";
import { witnessCheck } from "./witness.ts";

/**
 * What contradicts the history, in words; empty if it is correct. A search that found nothing in its time has shown
 * nothing, and counts. Each key has the whole time of the search for itself, and each one that is wrong is told.
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
