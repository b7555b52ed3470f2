/** The status of the backup that a cluster is founded from. */
import type { ConditionStatus } from "../generated/coordination-cluster.ts";
import type { Observed, Plan } from "../plan/index.ts";

export interface RestoreVerdict {
  readonly type: "Restored";
  readonly status: ConditionStatus["status"];
  readonly reason: string;
  readonly message: string;
}

/** @returns null for a cluster that is founded empty */
export function restoreVerdict(
  { attempts, claims, known, reports, restore }: Observed,
  { blocker }: Plan,
  past: readonly ConditionStatus[],
): RestoreVerdict | null {
  const type = "Restored";
  if (restore === null) {
    return null;
  }
  const from = [...reports.values()].map(({ foundedFrom }) => foundedFrom).find((text) => text !== "");
  if (from !== undefined) {
    return { type, status: "True", reason: "Restored", message: from };
  }
  const before = past.find((condition) => condition.type === type);
  if (before?.status === "True") {
    return { type, status: "True", reason: before.reason, message: before.message };
  }
  if (known !== null || claims.some(({ memberId }) => typeof memberId === "number")) {
    const message = "the cluster already has its data: spec.restoreFrom is read only when the cluster is founded";
    return { type, status: "Unknown", reason: "AlreadyFounded", message };
  }
  if (restore.problem !== null && !restore.isInForce) {
    return { type, status: "False", ...restore.problem };
  }
  const failure = attempts.restore?.failure ?? null;
  if (failure !== null) {
    return { type, status: "False", reason: "RestoreFails", message: failure };
  }
  const message = blocker?.message ?? "the first member has not begun to restore yet";
  return { type, status: "False", reason: "Restoring", message };
}
