/** The gate before a pod is restarted on purpose. */
import { type Membership, ordinalsBelow } from "./facts.ts";
import type { PodView } from "./observed.ts";

/** @returns why a pod must not be restarted now, as a sentence about another member; null if it may be */
export function restartObjection(membership: Membership, target: PodView): string | null {
  const { facts, voters, healthy, quorum } = membership;
  if (facts.wanted === 1 && voters.length === 1) {
    return null; // Whoever runs one member has agreed to an interruption.
  }
  for (const ordinal of ordinalsBelow(facts.wanted)) {
    const pod = facts.podOf(ordinal);
    if (pod === undefined || !pod.scheduled || pod.terminating) {
      return `${facts.nameOf(ordinal)} ${pod?.terminating === true ? "is terminating" : "has no node"}`;
    }
  }
  const others = voters.filter((slot) => facts.ordinalOf(slot) !== target.ordinal);
  const soakMs = facts.observed.cluster.spec.update.soakSeconds * 1000;
  for (const slot of others) {
    if (!membership.isHealthy(slot)) {
      return `${slot.name} is not healthy`;
    }
    if (facts.readyForMs(slot) < soakMs) {
      return `${slot.name} has not been ready for ${soakMs / 1000} s`;
    }
  }
  const left = healthy.filter((slot) => facts.ordinalOf(slot) !== target.ordinal);
  return left.length >= quorum ? null : "the other members are no quorum";
}
