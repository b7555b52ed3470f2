/**
 * Volumes of the clusters that the present one was recovered from. Their members are refused forever, and return as new
 * members with empty volumes.
 */
import type { Membership } from "./facts.ts";
import type { ClaimView } from "./observed.ts";
import type { Blocker, Step } from "./plan.ts";
import { formerIdsOf } from "./recovery.ts";
import { objectOf } from "./volume-rules.ts";

export function recycleFormer(membership: Membership): Step | Blocker | null {
  const { facts } = membership;
  const { cluster, claims, identity, recovery } = facts.observed;
  const clusterId = identity?.clusterId ?? "";
  const formerIds = formerIdsOf(recovery.note, clusterId);
  const former = claims
    .map((claim) => ({ claim, formerId: formerIds.find((id) => isOf(membership, claim, id)) }))
    .find(({ claim, formerId }) => formerId !== undefined && mayGo(membership, claim));
  if (former === undefined) {
    return null;
  }
  const { claim, formerId } = former;
  const pod = facts.podOf(claim.ordinal);
  const target = facts.claimNameOf(claim.ordinal);
  const message = `${target} has data of cluster ${formerId}, from which cluster ${clusterId} was recovered`;
  if (cluster.spec.storage.whenScaled === "Retain") {
    const command = `kubectl delete pvc ${target} --wait=false && kubectl delete pod ${facts.nameOf(claim.ordinal)}`;
    return { gate: "RecycleFormer", reason: "StaleVolume", target, message: `${message}: give it up with ${command}` };
  }
  if (!claim.terminating) {
    return { rule: "RecycleFormer", target, message, action: { kind: "delete-claim", ...objectOf(claim) } };
  }
  return pod === undefined || pod.terminating
    ? null
    : {
        rule: "RecycleFormer",
        target: facts.nameOf(claim.ordinal),
        message,
        action: { kind: "delete-pod", ...objectOf(pod) },
      };
}

/** By the annotation of the claim, or by the report of the process on it. */
function isOf({ facts }: Membership, claim: ClaimView, clusterId: string): boolean {
  return [claim.clusterId, facts.reportOf(claim.ordinal)?.clusterId].includes(clusterId);
}

/** Never the volume of the survivor or of any member. */
function mayGo(membership: Membership, claim: ClaimView): boolean {
  const { facts, configuration } = membership;
  const { identity, recovery } = facts.observed;
  const slot = configuration.members.find((each) => facts.ordinalOf(each) === claim.ordinal);
  return (
    !claim.foreign &&
    claim.ordinal !== recovery.note?.survivor?.ordinal &&
    slot?.incarnation === undefined &&
    !isOf(membership, claim, identity?.clusterId ?? "")
  );
}
