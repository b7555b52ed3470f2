/** Which steps and state changes the operator reports as events. */
import type { EventContent } from "../kube/index.ts";
import type { Action, BlockedStatus, ClusterStatus, Failure, Step } from "../plan/index.ts";

/** Waits shorter than this, such as for the restart of a member, cause no event. */
const BLOCKED_MS = 60_000;

const REASONS: Partial<Record<Action["kind"], string>> = {
  bootstrap: "Founded",
  "add-slot": "SlotAdded",
  promote: "MemberPromoted",
  remove: "MemberRemoved",
  transfer: "LeaderTransferred",
  evict: "PodEvicted",
};

/** @returns null for steps that only prepare others */
export function eventOfStep({ rule, message, action }: Step): EventContent | null {
  if (rule === "RecoverQuorum") {
    return eventOfRecovery(message, action);
  }
  if (rule === "RecycleFormer" && action.kind === "delete-claim") {
    return { type: "Normal", reason: "FormerVolumeDeleted", action: rule, note: message };
  }
  const reason = rule === "ReplaceLost" ? "MemberDataLost" : REASONS[action.kind];
  const type = rule === "ReplaceLost" ? "Warning" : "Normal";
  return reason === undefined ? null : { type, reason, action: rule, note: message };
}

/** An event for every step that changes the course of the recovery. */
function eventOfRecovery(note: string, action: Action): EventContent | null {
  const told = (type: EventContent["type"], reason: string): EventContent => ({
    type,
    reason,
    action: "RecoverQuorum",
    note,
  });
  switch (action.kind) {
    case "begin-recovery":
      return told("Warning", "RecoveryStarted");
    case "note-recovery":
      return action.note.phase === "Recovering" ? told("Warning", "SurvivorChosen") : null;
    case "scale-set":
      return told("Normal", "MembersStopped");
    case "create-recovery-pod":
      return told("Normal", action.stage === "survey" ? "VolumeSurveyed" : "VolumeRecovered");
    case "commit-recovery":
      return told("Warning", "QuorumRecovered");
    case "end-recovery":
      return action.note.phase === "Finished"
        ? told("Normal", "RecoveryFinished")
        : told("Warning", action.note.phase === "Refused" ? "RecoveryRefused" : "RecoveryCalledOff");
    default:
      return null;
  }
}

export function eventOfRenewal(): EventContent {
  return {
    type: "Normal",
    reason: "CertificateRenewed",
    action: "Renew",
    note: "members take the new one without a restart",
  };
}

/** An action that fails, in the words of the API server or the member. */
export function eventOfFailure({ reason, gate, message }: Failure): EventContent {
  return { type: "Warning", reason, action: gate, note: message };
}

/** @param undone at least one text; each names an object and the writer of the change */
export function eventOfUndone(undone: readonly string[]): EventContent {
  return {
    type: "Warning",
    reason: "ChangeUndone",
    action: "Restore",
    note: `restored what the CoordinationCluster specifies; change the CoordinationCluster instead: ${undone.join(", ")}`,
  };
}

/** States that hold now and did not hold before. */
export function eventsOfState(before: ClusterStatus | undefined, after: ClusterStatus): EventContent[] {
  const events: EventContent[] = [];
  const lost = conditionOf(after, "QuorumLost");
  if (lost?.status === "True" && conditionOf(before, "QuorumLost")?.status !== "True") {
    events.push({ type: "Warning", reason: "QuorumLost", action: "Observe", note: `${lost.reason}: ${lost.message}` });
  }
  const accepted = conditionOf(after, "SpecAccepted");
  const wasAccepted = conditionOf(before, "SpecAccepted");
  if (accepted?.status === "False" && (wasAccepted?.status !== "False" || wasAccepted.message !== accepted.message)) {
    const note = `${accepted.reason}: ${accepted.message}`;
    events.push({ type: "Warning", reason: "SpecRefused", action: "Observe", note });
  }
  for (const type of ["BackupHealthy", "ArchiveHealthy"]) {
    const [now, earlier] = [conditionOf(after, type), conditionOf(before, type)];
    if (now?.status === "False" && (earlier?.status !== "False" || earlier.reason !== now.reason)) {
      events.push({ type: "Warning", reason: now.reason, action: "Observe", note: now.message });
    }
  }
  const restored = conditionOf(after, "Restored");
  const wasRestored = conditionOf(before, "Restored");
  if (restored !== undefined && restored.reason !== wasRestored?.reason) {
    const type = restored.status === "False" && restored.reason !== "Restoring" ? "Warning" : "Normal";
    events.push({ type, reason: restored.reason, action: "Found", note: restored.message });
  }
  const volumes = conditionOf(after, "VolumesReady");
  const past = conditionOf(before, "VolumesReady");
  if (volumes?.status === "True" && past?.reason === "Growing") {
    events.push({
      type: "Normal",
      reason: "VolumeExpanded",
      action: "Grow",
      note: "all volumes have the size in the specification",
    });
  }
  return events;
}

/** @returns null for short waits: every restart waits for a moment */
export function eventOfBlocked(blocked: BlockedStatus | undefined, now: number): EventContent | null {
  return blocked === undefined || now - Date.parse(blocked.since) < BLOCKED_MS
    ? null
    : { type: "Warning", reason: "Blocked", action: blocked.gate, note: `${blocked.reason}: ${blocked.message}` };
}

function conditionOf(status: ClusterStatus | undefined, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}
