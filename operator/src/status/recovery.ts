/** The status of the present recovery of a lost quorum, or of the last one. */
import type { ConditionStatus } from "../generated/coordination-cluster.ts";
import { isRecovering, type Observed, type Plan, RECOVER_QUORUM } from "../plan/index.ts";

export interface RecoveryVerdict {
  readonly type: "QuorumRecovery";
  readonly status: ConditionStatus["status"];
  readonly reason: string;
  readonly message: string;
}

/** @returns null for a cluster that was never recovered */
export function recoveryVerdict({ cluster, recovery }: Observed, { step, blocker }: Plan): RecoveryVerdict | null {
  const { note } = recovery;
  const type = "QuorumRecovery";
  if (note !== null && (isRecovering(recovery) || note.phase === "Starting")) {
    const doing = step?.rule === "RecoverQuorum" ? step : blocker?.gate === "RecoverQuorum" ? blocker : note;
    return { type, status: "True", reason: note.phase, message: doing.message };
  }
  if (cluster.metadata.annotations?.[RECOVER_QUORUM] !== undefined) {
    const message = "the recovery begins once the loss of the quorum is certain: after a minute without a leader";
    return { type, status: "False", reason: "QuorumLossUncertain", message };
  }
  return note === null ? null : { type, status: "False", reason: note.reason ?? note.phase, message: note.message };
}
