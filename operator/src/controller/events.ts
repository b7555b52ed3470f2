/** What is told as an event: steps that were done, and states that began. */
import type { EventContent } from "../kube/index.ts";
import type { Action, ClusterStatus, Step } from "../plan/index.ts";

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
  const reason = rule === "ReplaceLost" ? "MemberDataLost" : REASONS[action.kind];
  const type = rule === "ReplaceLost" ? "Warning" : "Normal";
  return reason === undefined ? null : { type, reason, action: rule, note: message };
}

export function eventOfRenewal(): EventContent {
  return {
    type: "Normal",
    reason: "CertificateRenewed",
    action: "Renew",
    note: "members take the new one without a restart",
  };
}

/** What holds now and did not before. */
export function eventsOfState(before: ClusterStatus | undefined, after: ClusterStatus): EventContent[] {
  const events: EventContent[] = [];
  const lost = conditionOf(after, "QuorumLost");
  if (lost?.status === "True" && conditionOf(before, "QuorumLost")?.status !== "True") {
    events.push({ type: "Warning", reason: "QuorumLost", action: "Observe", note: `${lost.reason}: ${lost.message}` });
  }
  const { blocked } = after;
  const isNew = blocked?.gate !== before?.blocked?.gate || blocked?.target !== before?.blocked?.target;
  if (blocked !== undefined && isNew && !EXPECTED.has(blocked.reason)) {
    const note = `${blocked.reason}: ${blocked.message}`;
    events.push({ type: "Warning", reason: "Blocked", action: blocked.gate, note });
  }
  const volumes = conditionOf(after, "VolumesReady");
  const past = conditionOf(before, "VolumesReady");
  if (volumes?.status === "True" && past?.reason === "Growing") {
    events.push({
      type: "Normal",
      reason: "VolumeExpanded",
      action: "Grow",
      note: "all volumes are as they are asked for",
    });
  }
  return events;
}

/** What is waited for whenever members come: nothing is blocked. */
const EXPECTED: ReadonlySet<string> = new Set([
  "CatchingUp",
  "ConfigurationChanging",
  "NoLeader",
  "RevisionNotObserved",
  "WaitingForClaim",
  "WaitingForFounder",
  "WaitingForPod",
]);

function conditionOf(status: ClusterStatus | undefined, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}
