/** Outcome of a pass: its plan, and the actions that failed. */
import type { Blocker, Failure, Plan } from "./plan.ts";

/**
 * The cluster's first blocker: a failing step, then the hold of the plan, then failing upkeep.
 *
 * @param budget hold of an eviction that a disruption budget has refused
 * @param failures those that are worth showing
 */
export function outcomeOf(planned: Plan, budget: Blocker | null, failures: readonly Failure[]): Plan {
  const step = failures.find(({ reason }) => reason === "StepFailed");
  const blocker = step ?? planned.blocker ?? budget ?? failures[0] ?? null;
  return { ...planned, step: step === undefined ? planned.step : null, blocker };
}
