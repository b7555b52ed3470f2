/** Volumes of removed members. A volume whose ordinal has a claimed slot is never deleted. */
import { type Membership, ordinalsBelow } from "./facts.ts";
import type { ClaimView, PodView } from "./observed.ts";
import type { Blocker, ObjectOfOrdinal, Step } from "./plan.ts";

/** A pod that returns with the data of a removed member gets an empty volume. */
export function recycleVolume(membership: Membership): Step | Blocker | null {
  const { facts } = membership;
  for (const ordinal of ordinalsBelow(facts.wanted)) {
    const pod = facts.podOf(ordinal);
    if (
      pod !== undefined &&
      membership.slotOf(ordinal)?.incarnation === undefined &&
      hasRetiredData(membership, ordinal)
    ) {
      return emptyVolume(membership, pod);
    }
  }
  return null;
}

/** An id that is not in the configuration, and not above its index, never returns. */
function hasRetiredData({ facts, configuration }: Membership, ordinal: number): boolean {
  const report = facts.reportOf(ordinal);
  return (
    report?.state === "MEMBER_REMOVED" &&
    report.memberId !== undefined &&
    report.memberId <= configuration.index &&
    !configuration.members.some((slot) => slot.id === report.memberId)
  );
}

function emptyVolume({ facts }: Membership, pod: PodView): Step | Blocker | null {
  const { ordinal } = pod;
  const [claim, target] = [facts.claimOf(ordinal), facts.claimNameOf(ordinal)];
  const message = `${target} has the data of a member that was removed`;
  if (facts.observed.cluster.spec.storage.whenScaled === "Retain") {
    const command = `kubectl delete pvc ${target} --wait=false && kubectl delete pod ${facts.nameOf(ordinal)}`;
    return { gate: "RecycleVolume", reason: "StaleVolume", target, message: `${message}: give it up with ${command}` };
  }
  if (claim !== undefined && !claim.terminating) {
    return { rule: "RecycleVolume", target, message, action: { kind: "delete-claim", ...objectOf(claim) } };
  }
  return pod.terminating
    ? null
    : {
        rule: "RecycleVolume",
        target: facts.nameOf(ordinal),
        message,
        action: { kind: "delete-pod", ...objectOf(pod) },
      };
}

/** Deletes the claim of a removed member. */
export function dropClaim(membership: Membership): Step | null {
  const { facts } = membership;
  const { claims, cluster, set } = facts.observed;
  if (cluster.spec.storage.whenScaled !== "Delete" || set === null) {
    return null;
  }
  const left = claims.find(
    (claim) =>
      claim.ordinal >= set.replicas &&
      claim.ours &&
      !claim.terminating &&
      membership.slotOf(claim.ordinal) === undefined &&
      facts.podOf(claim.ordinal) === undefined,
  );
  if (left === undefined) {
    return null;
  }
  const target = facts.claimNameOf(left.ordinal);
  const message = `${target} has neither a pod nor a slot`;
  return { rule: "DropClaim", target, message, action: { kind: "delete-claim", ...objectOf(left) } };
}

export function objectOf({ ordinal, uid, resourceVersion }: PodView | ClaimView): ObjectOfOrdinal {
  return { ordinal, uid, resourceVersion };
}
