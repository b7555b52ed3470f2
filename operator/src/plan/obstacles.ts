/**
 * Pods and volumes that Kubernetes does not make, and pods without a node: the cause of whatever the plan then waits for.
 */
import type { Facts } from "./facts.ts";
import type { Obstacle } from "./observed.ts";
import type { Hold, HoldReason } from "./plan.ts";

/** What ends when the pod is there. Other reasons ask a person for something else, and stay. */
const WAITS_FOR_POD: ReadonlySet<HoldReason> = new Set([
  "CatchingUp",
  "MemberUnhealthy",
  "WaitingForClaim",
  "WaitingForFounder",
  "WaitingForPod",
] as const);
/** What has a runbook of its own, and may have this cause. */
const LACKS_LEADER: ReadonlySet<HoldReason> = new Set(["NoLeader", "QuorumLost"] as const);

/** The first obstacle to a member that is wanted; null if there is none. One that is to leave needs no pod. */
export function obstacleOf({ observed, wanted }: Facts): Obstacle | null {
  return observed.obstacles.find(({ ordinal }) => ordinal < wanted) ?? null;
}

/** What cannot be made or placed, and why, as a sentence. */
export function sentenceOf(facts: Facts, obstacle: Obstacle): string {
  const verb = obstacle.reason === "PodNotScheduled" ? "has no node" : "cannot be created";
  return `${targetOf(facts, obstacle)} ${verb}: ${obstacle.cause}`;
}

/** @returns the hold with the obstacle that causes it, if there is one; the obstacle alone, if nothing else is waited for */
export function withObstacle(facts: Facts, hold: Hold | null): Hold | null {
  const obstacle = obstacleOf(facts);
  if (obstacle === null) {
    return hold;
  }
  const message = sentenceOf(facts, obstacle);
  if (hold === null || WAITS_FOR_POD.has(hold.reason)) {
    const gate = hold?.gate ?? "AwaitPod";
    return { gate, reason: obstacle.reason, target: targetOf(facts, obstacle), message };
  }
  return LACKS_LEADER.has(hold.reason) ? { ...hold, message: `${hold.message}; ${message}` } : hold;
}

function targetOf(facts: Facts, { ordinal, reason }: Obstacle): string {
  return reason === "VolumeNotCreated" ? facts.claimNameOf(ordinal) : facts.nameOf(ordinal);
}
