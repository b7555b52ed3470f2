/**
 * Detects that the quorum is lost, not only absent for a moment. The operator does nothing about it by itself: every
 * remedy loses data, so a person must decide (`recovery-rules.ts`). The loss ends when a leader confirms its quorum.
 */
import { type Facts, ordinalsBelow, votersOf } from "./facts.ts";
import type { MemberReport } from "./observed.ts";
import { EMPTY_STATES, type QuorumLoss } from "./plan.ts";
import { quorumOf } from "./quorum.ts";
import { isRecovering } from "./recovery.ts";

/** An election takes about a second; the move of a pod takes less than this. */
const LEADERLESS_MS = 60_000;

export function quorumLossOf(facts: Facts): QuorumLoss | null {
  const { configuration, leaderlessSince, now } = facts.observed;
  if (configuration !== null) {
    return null;
  }
  const { note } = facts.observed.recovery;
  if (note !== null && (isRecovering(facts.observed.recovery) || note.phase === "Starting")) {
    return { reason: "RecoveryUnderWay", message: note.message };
  }
  const lost = majorityDataLost(facts) ?? allDataLost(facts);
  const isLong = leaderlessSince !== null && now - leaderlessSince >= LEADERLESS_MS;
  return lost ?? (isLong ? longWithoutLeader(facts) : null);
}

function majorityDataLost(facts: Facts): QuorumLoss | null {
  const voters = votersOf(facts.observed.known);
  const lost = voters.filter((slot) => {
    const state = facts.reportOf(facts.ordinalOf(slot))?.state;
    return state === "MEMBER_DATA_LOST" || state === "MEMBER_REFUSED";
  });
  return voters.length > 0 && voters.length - lost.length < quorumOf(voters.length)
    ? {
        reason: "MajorityDataLost",
        message: `the data of ${lost.map((slot) => slot.name).join(", ")} is lost: no majority of the voters is left`,
      }
    : null;
}

function allDataLost(facts: Facts): QuorumLoss | null {
  const { identity, set } = facts.observed;
  if (identity === null || set === null || set.replicas === 0) {
    return null;
  }
  const reports = ordinalsBelow(set.replicas).map((ordinal) => facts.reportOf(ordinal));
  const isEmpty = (report: MemberReport | undefined): boolean =>
    report !== undefined && EMPTY_STATES.has(report.state) && report.incarnation !== identity.founderIncarnation;
  return reports.every(isEmpty)
    ? { reason: "AllDataLost", message: `every volume of cluster ${identity.clusterId} is empty` }
    : null;
}

function longWithoutLeader(facts: Facts): QuorumLoss | null {
  const voters = votersOf(facts.observed.known);
  if (voters.length === 0) {
    return null;
  }
  const quorum = quorumOf(voters.length);
  const running = voters.filter((slot) => facts.reportOf(facts.ordinalOf(slot))?.state === "RUNNING").length;
  const ready = facts.observed.pods.filter((pod) => pod.readySince !== null).length;
  if (running >= quorum) {
    return { reason: "NoLeaderElected", message: `${running} of ${voters.length} voters run, but elect no leader` };
  }
  return ready < quorum
    ? {
        reason: "MajorityUnreachable",
        message: `only ${running} of ${voters.length} voters answer; a quorum is ${quorum}`,
      }
    : null;
}
