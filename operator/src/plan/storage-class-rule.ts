/**
 * Changes the storage class of a cluster without volumes. The claim template of a set is immutable, so set and claims
 * are deleted and created again. A claim with a volume is never touched: from the first volume on, the class stays.
 */
import type { Facts } from "./facts.ts";
import type { ClaimView, PodView } from "./observed.ts";
import type { Step } from "./plan.ts";
import { objectOf } from "./volume-rules.ts";

const RULE = "ChangeStorageClass";
/** A claim of the present set usually has its volume within this time, in milliseconds. */
const UNSURE_MS = 10_000;

/**
 * Claims first: a deleted claim is never bound again. The set is not deleted while another claim may still be bound.
 */
export function changeStorageClass(facts: Facts): Step | null {
  const { claims, cluster, identity, pods, set } = facts.observed;
  const wanted = cluster.spec.storage.storageClassName ?? null;
  if (set === null) {
    return identity === null ? dropLeftover(facts) : null;
  }
  if (identity !== null || hasVolume(claims, pods)) {
    return null;
  }
  if (set.storageClassName === wanted) {
    return dropUnsure(facts);
  }
  const why = `no volume is bound yet, and the storage class has changed from ${nameOf(set.storageClassName)} to ${nameOf(wanted)}`;
  const claim = claims.find(({ ours, terminating }) => ours && !terminating);
  if (claim !== undefined) {
    return deleteClaim(facts, claim, why);
  }
  const { name: target } = cluster.metadata;
  const action = { kind: "delete-set", uid: set.uid, resourceVersion: set.resourceVersion } as const;
  return { rule: RULE, target, message: `StatefulSet ${target} is created again: ${why}`, action };
}

/** A set may recreate a claim just before it is deleted. The next set would use that claim, with its old class. */
function dropLeftover(facts: Facts): Step | null {
  const claim = facts.observed.claims.find(({ leftover, terminating }) => leftover && !terminating);
  const why = "the StatefulSet that created it is gone, and no volume is bound";
  return claim === undefined ? null : deleteClaim(facts, claim, why);
}

/**
 * The former set may also create a claim again just after it is deleted. The present set then uses that claim, with its
 * old class. A claim that gets no volume, and that the present set may not have created, is created again once.
 */
function dropUnsure(facts: Facts): Step | null {
  const { claims, now } = facts.observed;
  const claim = claims.find(({ unsureSince, terminating }) => {
    return unsureSince !== null && !terminating && now - unsureSince > UNSURE_MS;
  });
  const why = "it has no volume, and may be of the StatefulSet before this one";
  return claim === undefined ? null : deleteClaim(facts, claim, why);
}

/** A set creates a deleted claim again. */
function deleteClaim(facts: Facts, claim: ClaimView, why: string): Step {
  const target = facts.claimNameOf(claim.ordinal);
  const message = `${target} is created again: ${why}`;
  return { rule: RULE, target, message, action: { kind: "delete-claim", ...objectOf(claim) } };
}

/** @returns whether a volume may hold data; also true for a deleted claim while its pod has a node */
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
