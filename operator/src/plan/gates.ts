/** The gate before each deliberate restart of a pod. */
import { type Facts, type Membership, ordinalsBelow } from "./facts.ts";
import type { PodView, Slot } from "./observed.ts";
import type { BlockerReason } from "./plan.ts";

/** A member with the new template whose process ended more recently may end again, because of its template. */
const EXIT_MS = 600_000;
/** Kubernetes' name of the reason. */
const OUT_OF_MEMORY = "OOMKilled";

export interface Objection {
  readonly reason: BlockerReason;
  /** A sentence about another member. */
  readonly message: string;
}

/** @returns why a pod must not be restarted now; null if it may be */
export function restartObjection(membership: Membership, target: PodView): Objection | null {
  const { facts, voters, healthy, quorum } = membership;
  if (facts.wanted === 1 && voters.length === 1) {
    return null; // A cluster of one member cannot restart without an interruption.
  }
  for (const ordinal of ordinalsBelow(facts.wanted)) {
    const pod = facts.podOf(ordinal);
    if (pod === undefined || !pod.scheduled || pod.terminating) {
      return unhealthy(`${facts.nameOf(ordinal)} ${pod?.terminating === true ? "is terminating" : "has no node"}`);
    }
  }
  const others = voters.filter((slot) => facts.ordinalOf(slot) !== target.ordinal);
  for (const slot of others) {
    const failure = facts.isOutdated(target) ? failureInRoll(facts, slot) : recentExit(facts, slot);
    if (failure !== null) {
      return failure;
    }
  }
  const soakMs = facts.observed.cluster.spec.update.soakSeconds * 1000;
  for (const slot of others) {
    if (!membership.isHealthy(slot)) {
      return unhealthy(`${slot.name} is not healthy`);
    }
    if (facts.readyForMs(slot) < soakMs) {
      return unhealthy(`${slot.name} has not been ready for ${soakMs / 1000} s`);
    }
  }
  const left = healthy.filter((slot) => facts.ordinalOf(slot) !== target.ordinal);
  return left.length >= quorum ? null : unhealthy("the other members are not a quorum");
}

function unhealthy(message: string): Objection {
  return { reason: "MemberUnhealthy", message };
}

/**
 * If a process of a pod from this roll has ended, it ended with the new template. Too little memory shows only under
 * load. So after an out-of-memory kill the roll stops, however long ago it was.
 */
function failureInRoll(facts: Facts, slot: Slot): Objection | null {
  const pod = facts.podOf(facts.ordinalOf(slot));
  const isOfRoll = facts.observed.pods.every((each) => !facts.isOutdated(each) || each.created < (pod?.created ?? 0));
  if (pod === undefined || facts.isOutdated(pod) || !isOfRoll) {
    return null;
  }
  if (pod.lastExit?.reason === OUT_OF_MEMORY) {
    const limit = facts.observed.cluster.spec.resources.limits?.memory ?? "the node's memory";
    const message =
      `${slot.name} has the new template, but the kernel has killed it at its memory limit (${OUT_OF_MEMORY}, ` +
      `${restartsOf(pod)}): raise spec.resources.limits.memory above ${limit}, or revert the change`;
    return { reason: "NewTemplateFails", message };
  }
  const exit = recentExit(facts, slot);
  return exit === null
    ? null
    : { reason: "NewTemplateFails", message: `${slot.name} has the new template, but ${exit.message}` };
}

/** Also for exit code 0: a member does not end by itself. */
function recentExit(facts: Facts, slot: Slot): Objection | null {
  const pod = facts.podOf(facts.ordinalOf(slot));
  if (pod === undefined || pod.lastExit === null || facts.observed.now - pod.lastExit.at >= EXIT_MS) {
    return null;
  }
  const { reason, exitCode } = pod.lastExit;
  const message =
    `the process of ${slot.name} ended with ${reason}, exit code ${exitCode}, within the last ten minutes ` +
    `(${restartsOf(pod)}): see kubectl logs ${slot.name} --previous`;
  return { reason: "MemberUnhealthy", message };
}

function restartsOf({ restarts }: PodView): string {
  return `${restarts} ${restarts === 1 ? "restart" : "restarts"}`;
}
