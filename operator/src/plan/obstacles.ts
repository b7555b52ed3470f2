/**
 * Obstacles: pods and volumes that Kubernetes does not create, and pods without a node. They are the cause of the
 * waiting.
 */
import type { Facts } from "./facts.ts";
import type { Obstacle } from "./observed.ts";
import type { Blocker, BlockerReason } from "./plan.ts";

/** Reasons of holds that end once the pod exists. Other holds ask a person for something else, and stay. */
const WAITS_FOR_POD: ReadonlySet<BlockerReason> = new Set([
  "CatchingUp",
  "MemberUnhealthy",
  "WaitingForClaim",
  "WaitingForFounder",
  "WaitingForPod",
] as const);
/** Reasons that have their own runbook, and may have an obstacle as their cause. */
const LACKS_LEADER: ReadonlySet<BlockerReason> = new Set(["NoLeader", "QuorumLost"] as const);

/** The first obstacle to a wanted member; null if there is none. A member that must leave needs no pod. */
export function obstacleOf({ observed, wanted }: Facts): Obstacle | null {
  return observed.obstacles.find(({ ordinal }) => ordinal < wanted) ?? null;
}

/** A sentence about what cannot be created or placed, and why. */
export function sentenceOf(facts: Facts, obstacle: Obstacle): string {
  const verb = obstacle.reason === "PodNotScheduled" ? "has no node" : "cannot be created";
  return `${targetOf(facts, obstacle)} ${verb}: ${obstacle.cause}`;
}

/** @returns the hold with the obstacle that causes it, if any; the obstacle alone if there is no other hold */
export function withObstacle(facts: Facts, blocker: Blocker | null): Blocker | null {
  const obstacle = obstacleOf(facts);
  if (obstacle === null) {
    return blocker;
  }
  const message = sentenceOf(facts, obstacle);
  if (blocker === null || WAITS_FOR_POD.has(blocker.reason)) {
    const gate = blocker?.gate ?? "AwaitPod";
    return { gate, reason: obstacle.reason, target: targetOf(facts, obstacle), message };
  }
  return LACKS_LEADER.has(blocker.reason) ? { ...blocker, message: `${blocker.message}; ${message}` } : blocker;
}

function targetOf(facts: Facts, { ordinal, reason }: Obstacle): string {
  return reason === "VolumeNotCreated" ? facts.claimNameOf(ordinal) : facts.nameOf(ordinal);
}
