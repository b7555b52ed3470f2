/**
 * The phase: the conditions in one word and, while the cluster is not ready, the work in progress. It follows from the
 * conditions, so it cannot contradict them.
 */
import type { ConditionStatus } from "../generated/coordination-cluster.ts";
import type { Plan, Rule } from "../plan/index.ts";

const WORK: ReadonlyMap<Rule, string> = new Map([
  ["Adopt", "Starting"],
  ["ChangeStorageClass", "Starting"],
  ["Found", "Starting"],
  ["RecreateBroken", "Repairing"],
  ["ReplaceLost", "Repairing"],
  ["RecycleVolume", "Repairing"],
  ["RecoverQuorum", "Repairing"],
  ["RecycleFormer", "Repairing"],
  ["GrowSet", "Scaling"],
  ["CancelSlot", "Scaling"],
  ["ShrinkSet", "Scaling"],
  ["DropClaim", "Scaling"],
  ["Promote", "Scaling"],
  ["AddSlot", "Scaling"],
  ["ScaleDown", "Scaling"],
  ["AwaitLearner", "Scaling"],
  ["Roll", "Updating"],
  ["Template", "Updating"],
  ["ResizeRestart", "Updating"],
]);
/** Work that needs no leader, or that leads to one. */
const LEADERLESS: ReadonlySet<string> = new Set(["Starting", "Repairing"]);

/** @param plan of this pass; null after a pass that could not observe the cluster */
export function phaseOf(conditions: readonly ConditionStatus[], plan: Plan | null, isDeleted: boolean): string {
  const is = (type: string): string | undefined => conditions.find((each) => each.type === type)?.status;
  if (isDeleted) {
    return "Deleting";
  }
  if (is("QuorumRecovery") === "True" && is("ReconcilePaused") !== "True") {
    return "Recovering";
  }
  if (is("QuorumLost") === "True") {
    return "QuorumLost";
  }
  if (is("ReconcilePaused") === "True") {
    return "Paused";
  }
  if (is("SpecAccepted") === "False") {
    return "Refused";
  }
  if (is("Ready") === "Unknown") {
    return "Unknown";
  }
  const isDegraded = is("Degraded") === "True";
  if (is("Ready") === "True") {
    return isDegraded ? "Degraded" : "Ready";
  }
  const isAvailable = is("Available") === "True";
  // The hold of a degraded cluster does not end by itself.
  const rule = plan?.step?.rule ?? (isDegraded ? undefined : plan?.blocker?.gate);
  const work = rule === undefined ? undefined : WORK.get(rule);
  if (work !== undefined && (isAvailable || LEADERLESS.has(work))) {
    return work;
  }
  return isAvailable ? "Degraded" : "Unavailable";
}
