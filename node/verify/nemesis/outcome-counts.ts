/** Counts operations by kind and outcome. */

import type { OperationOutcome } from "../history/index.ts";

export interface OutcomeCount {
  readonly kind: string;
  readonly ok: number;
  readonly notExecuted: number;
  readonly unknown: number;
}

/** One count for each kind, in the order of their first operations. */
export function countOutcomes(
  operations: Iterable<{ readonly kind: string; readonly outcome: OperationOutcome["kind"] }>,
): readonly OutcomeCount[] {
  const counts = new Map<string, { ok: number; notExecuted: number; unknown: number }>();
  for (const { kind, outcome } of operations) {
    const count = counts.get(kind) ?? { ok: 0, notExecuted: 0, unknown: 0 };
    counts.set(kind, count);
    count[outcome === "not-executed" ? "notExecuted" : outcome]++;
  }
  return [...counts].map(([kind, count]) => ({ kind, ...count }));
}
