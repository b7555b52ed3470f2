/** What a pass came to: its plan, and what did not work of it. */
import type { Failure, Hold, Plan } from "./plan.ts";

/**
 * What stops a cluster first: a step that fails, then what the plan waits for, then upkeep that fails.
 *
 * @param budget of an eviction that a disruption budget has refused
 * @param failures that are worth showing
 */
export function outcomeOf(planned: Plan, budget: Hold | null, failures: readonly Failure[]): Plan {
  const step = failures.find(({ reason }) => reason === "StepFailed");
  const hold = step ?? planned.hold ?? budget ?? failures[0] ?? null;
  return { ...planned, step: step === undefined ? planned.step : null, hold };
}
