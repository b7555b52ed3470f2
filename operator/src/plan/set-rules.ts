/** The number of pods follows the slots: it grows before any other change, and shrinks once no slot needs the pod. */
import type { Facts, Membership } from "./facts.ts";
import type { Step } from "./plan.ts";

/** Starting a pod that has its data is always safe, with or without a leader. */
export function growSet(facts: Facts): Step | null {
  const { claims, configuration, known, set } = facts.observed;
  if (set === null) {
    return null;
  }
  const members = (configuration ?? known)?.members ?? [];
  const ofSlots = members
    .map((slot) => ({ slot, ordinal: facts.ordinalOf(slot) }))
    .filter(({ slot, ordinal }) => slot.voter || ordinal < facts.wanted)
    .map(({ ordinal }) => ordinal);
  const ofClaims = claims
    .filter(({ memberId, ours }) => ours && typeof memberId === "number")
    .map(({ ordinal }) => ordinal);
  const replicas = 1 + Math.max(-1, ...(members.length > 0 ? ofSlots : ofClaims));
  return set.replicas < replicas ? scale("GrowSet", facts, replicas, "has a slot, but no pod") : null;
}

export function shrinkSet({ facts, configuration }: Membership): Step | null {
  const { set } = facts.observed;
  const needed = Math.max(facts.wanted, 1 + Math.max(...configuration.members.map((slot) => facts.ordinalOf(slot))));
  return set !== null && set.replicas > needed
    ? scale("ShrinkSet", facts, set.replicas - 1, "is neither wanted nor a member")
    : null;
}

function scale(rule: "GrowSet" | "ShrinkSet", facts: Facts, replicas: number, why: string): Step | null {
  const { set } = facts.observed;
  const target = facts.nameOf(rule === "GrowSet" ? replicas - 1 : replicas);
  return set === null
    ? null
    : {
        rule,
        target,
        message: `${target} ${why}`,
        action: { kind: "scale-set", replicas, resourceVersion: set.resourceVersion },
      };
}
