/** Judges the history of a run by both oracles. */

import {
  describeVerdict,
  type RecordedOperation,
  SEARCH_LIMIT_MS,
  searchCheck,
  witnessCheck,
} from "../history/index.ts";

/** What contradicts the history, in words. A search that found nothing in its time has shown nothing, and counts. */
export function judge(operations: readonly RecordedOperation[]): readonly string[] {
  const wrong: string[] = [];
  const witness = witnessCheck(operations);
  if (witness.kind !== "correct") {
    wrong.push(describeVerdict(witness));
  }
  // Keys apart, so that each has all of the time, and each one that is wrong is told.
  for (const ofKey of Map.groupBy(operations, ({ operation }) => operation.key).values()) {
    const verdict = searchCheck(ofKey, { nowMs: () => performance.now(), limitMs: SEARCH_LIMIT_MS });
    if (verdict.kind !== "correct") {
      wrong.push(describeVerdict(verdict));
    }
  }
  return wrong;
}
