/** How often what was asked for came to what, by kind. */

import type { OperationOutcome } from "../history/index.ts";

export interface OutcomeCount {
  readonly kind: string;
  readonly ok: number;
  readonly notExecuted: number;
  readonly unknown: number;
}

/** One line for each kind, in the order in which the kinds come first. */
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
