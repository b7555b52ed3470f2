/**
 * The storage class of a cluster that has no volume yet. A set cannot change what it asks of claims, so set and claims are
 * made again. A claim with a volume is never touched: from the first one on, the class stays.
 */
import type { Facts } from "./facts.ts";
import type { ClaimView, PodView } from "./observed.ts";
import type { Step } from "./plan.ts";
import { objectOf } from "./volume-rules.ts";

/** Claims first: what is deleted is never bound again, and the set is not deleted while another claim may be. */
export function changeStorageClass(facts: Facts): Step | null {
  const { claims, cluster, identity, pods, set } = facts.observed;
  const wanted = cluster.spec.storage.storageClassName ?? null;
  if (set === null) {
    return identity === null ? dropLeftover(facts) : null;
  }
  if (set.storageClassName === wanted || identity !== null || hasVolume(claims, pods)) {
    return null;
  }
  const rule = "ChangeStorageClass";
  const why = `no volume is bound yet, and the storage class has changed from ${nameOf(set.storageClassName)} to ${nameOf(wanted)}`;
  const claim = claims.find(({ ours, terminating }) => ours && !terminating);
  if (claim !== undefined) {
    const target = facts.claimNameOf(claim.ordinal);
    return {
      rule,
      target,
      message: `${target} is made again: ${why}`,
      action: { kind: "delete-claim", ...objectOf(claim) },
    };
  }
  const { name: target } = cluster.metadata;
  const action = { kind: "delete-set", uid: set.uid, resourceVersion: set.resourceVersion } as const;
  return { rule, target, message: `StatefulSet ${target} is made again: ${why}`, action };
}

/** A set may make a claim again in the moment before it is gone. The next set would take it, with its class. */
function dropLeftover(facts: Facts): Step | null {
  const claim = facts.observed.claims.find(({ leftover, terminating }) => leftover && !terminating);
  if (claim === undefined) {
    return null;
  }
  const target = facts.claimNameOf(claim.ordinal);
  return {
    rule: "ChangeStorageClass",
    target,
    message: `${target} is made again: the StatefulSet that made it is gone, and no volume is bound`,
    action: { kind: "delete-claim", ...objectOf(claim) },
  };
}

/** @returns whether a volume may hold data: one of a claim that is deleted does while its pod has a node */
export function hasVolume(
  claims: readonly Pick<ClaimView, "ordinal" | "bound" | "terminating">[],
  pods: readonly Pick<PodView, "ordinal" | "scheduled">[],
): boolean {
  const isScheduled = (ordinal: number): boolean => pods.some((pod) => pod.ordinal === ordinal && pod.scheduled);
  return claims.some(({ ordinal, bound, terminating }) => bound && (!terminating || isScheduled(ordinal)));
}

function nameOf(storageClassName: string | null): string {
  return storageClassName ?? "the default";
}
