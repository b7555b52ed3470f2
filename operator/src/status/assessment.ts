/** Assessment of a cluster, from which its conditions and status follow. */
import {
  type ClusterStatus,
  Facts,
  type Failure,
  Membership,
  type Observed,
  obstacleOf,
  type Plan,
  type PodView,
  type QuorumLoss,
  quorumLossOf,
  quorumOf,
  type Slot,
  sentenceOf,
  votersOf,
} from "../plan/index.ts";
import { memoryLimitOf, parseQuantity } from "../quantity/index.ts";
import type { BackupView } from "./backup.ts";
import type { Problem } from "./messages.ts";

/** Kubernetes' name of the reason. */
const OUT_OF_MEMORY = "OOMKilled";
/** A failed process counts as a problem for this long, even if it runs again. */
const FAILED_EXIT_MS = 600_000;

/** Findings of this pass from outside the planner. */
export interface Surroundings {
  readonly tlsProblem: Problem | null;
  readonly monitoringProblem: Problem | null;
  /** Why the Secret of a founded cluster does not show its owner. */
  readonly ownerProblem: Problem | null;
  /** When certificate and authority expire, RFC 3339; null without certificates. */
  readonly tls: { readonly notAfter: string; readonly caNotAfter: string } | null;
  /** Actions that fail, and are not expected to succeed soon. */
  readonly failures: readonly Failure[];
  /** Null for a cluster without backups. */
  readonly backup: BackupView | null;
}

export interface Assessment {
  readonly observed: Observed;
  readonly plan: Plan;
  readonly surroundings: Surroundings;
  readonly facts: Facts;
  readonly wanted: number;
  /** Voters. */
  readonly healthy: readonly Slot[];
  readonly unhealthy: readonly { readonly name: string; readonly forMs: number }[];
  /** A problem that does not go away by itself. */
  readonly broken: Problem | undefined;
  /** Whether new pods get the wanted template, and pods with an older template are known. */
  readonly isTemplateInForce: boolean;
  /** Names of the pods with an older template. */
  readonly outdated: readonly string[];
  readonly volumeProblem: Problem | null;
  readonly quorumLoss: QuorumLoss | null;
  readonly leaderName: string | undefined;
  readonly quorumReadyPods: boolean;
  readonly blockedForMs: number;
  readonly isPaused: boolean;
  /** Why the cluster does not match its specification; null if it does. */
  readonly unreadiness: Problem | null;
}

export function assess(observed: Observed, plan: Plan, surroundings: Surroundings): Assessment {
  const facts = new Facts(observed);
  const membership = observed.configuration === null ? null : new Membership(facts, observed.configuration);
  const voters = votersOf(observed.configuration ?? observed.known);
  const past = observed.cluster.status;
  const healthy = membership?.healthy ?? [];
  const readyPods = observed.pods.filter((pod) => pod.readySince !== null).length;
  const quorumReadyPods = readyPods >= quorumOf(Math.max(1, voters.length));
  const outdated = observed.pods.filter((pod) => facts.isOutdated(pod)).map((pod) => facts.nameOf(pod.ordinal));
  const volumeProblem = volumeProblemOf(facts);
  const { drift, set } = observed;
  const isTemplateInForce =
    set?.caughtUp === true && !set.isOverwritten && !drift.some(({ kind }) => kind === "StatefulSet");
  return {
    observed,
    plan,
    surroundings,
    facts,
    wanted: facts.wanted,
    healthy,
    unhealthy: voters.filter((slot) => !isWell(facts, membership, slot)).map((slot) => unwell(facts, slot, past)),
    broken: brokenOf(facts),
    isTemplateInForce,
    outdated,
    volumeProblem,
    quorumLoss: quorumLossOf(facts) ?? (quorumReadyPods ? null : lossReportedBefore(observed)),
    leaderName: observed.configuration?.members.find((slot) => slot.id === observed.configuration?.leaderId)?.name,
    quorumReadyPods,
    blockedForMs: blockedForMs(observed, plan, past),
    isPaused: observed.cluster.metadata.annotations?.["quoin.dev/paused"] === "true",
    unreadiness: unreadinessOf(
      facts,
      membership,
      isTemplateInForce,
      outdated,
      volumeProblem ?? surroundings.tlsProblem ?? surroundings.failures[0] ?? null,
    ),
  };
}

/** A reported loss lasts until a leader confirms its quorum: one missing answer proves nothing. */
function lossReportedBefore({ cluster, configuration }: Observed): QuorumLoss | null {
  const told = cluster.status?.conditions?.find(({ type }) => type === "QuorumLost");
  return configuration === null && told?.status === "True"
    ? { reason: told.reason as QuorumLoss["reason"], message: told.message }
    : null;
}

function isWell(facts: Facts, membership: Membership | null, slot: Slot): boolean {
  // Without a leader, lag is unknown. A ready pod hears a leader.
  return membership === null ? facts.readyForMs(slot) >= 0 : membership.isHealthy(slot);
}

/** Since when its pod has been not ready; without such a pod, since when not all pods were ready. */
function unwell(facts: Facts, slot: Slot, past: ClusterStatus | undefined): { name: string; forMs: number } {
  const { now } = facts.observed;
  const allReady = past?.conditions?.find(({ type }) => type === "AllMembersReady");
  const missingSince = allReady?.status === "False" ? Date.parse(allReady.lastTransitionTime) : now;
  const since = facts.podOf(facts.ordinalOf(slot))?.unreadySince ?? missingSince;
  return { name: slot.name, forMs: now - since };
}

function brokenOf(facts: Facts): Problem | undefined {
  const { cluster, now, pods } = facts.observed;
  const budgetMs = cluster.spec.update.startupBudgetSeconds * 1000;
  for (const pod of pods) {
    const name = facts.nameOf(pod.ordinal);
    switch (facts.reportOf(pod.ordinal)?.state) {
      case "MEMBER_DATA_LOST":
        return { reason: "MemberDataLost", message: `${name} has lost its data` };
      case "MEMBER_DAMAGED":
        return {
          reason: "MemberDamaged",
          message: `${name} has lost the end of its log, and recovers without a vote`,
        };
      case "MEMBER_REFUSED":
        return { reason: "MemberRefused", message: `${name} cannot use its data: see kubectl logs ${name}` };
      case "WRONG_CLUSTER":
        return { reason: "WrongCluster", message: `${name} has the data of another cluster` };
    }
    const failing = failingProcessOf(facts, pod);
    if (failing !== null) {
      return failing;
    }
    if (!pod.started && pod.runningSince !== null && now - pod.runningSince > budgetMs) {
      return { reason: "StartupBudgetSpent", message: `${name} has not opened its stores in ${budgetMs / 1000} s` };
    }
  }
  return undefined;
}

/** A process that the kernel kills for its memory, or that fails again and again. */
function failingProcessOf(facts: Facts, { ordinal, stuck, restarts, failedExit }: PodView): Problem | null {
  const name = facts.nameOf(ordinal);
  const times = `${restarts} ${restarts === 1 ? "restart" : "restarts"}`;
  if (
    failedExit !== null &&
    failedExit.reason === OUT_OF_MEMORY &&
    facts.observed.now - failedExit.at < FAILED_EXIT_MS
  ) {
    const limit = memoryLimitOf(facts.observed.cluster.spec);
    const advice =
      limit === undefined ? "set spec.resources.limits.memory" : `raise ${limit.field} above ${limit.amount}`;
    const message = `the kernel has killed ${name} at its memory limit (${times}): ${advice}`;
    return { reason: "OutOfMemory", message };
  }
  if (stuck && failedExit !== null) {
    const { reason, exitCode } = failedExit;
    const message = `${name} ends again and again (${times}), last with ${reason}, exit code ${exitCode}: see kubectl logs ${name} --previous`;
    return { reason: "CrashLooping", message };
  }
  return null;
}

function volumeProblemOf(facts: Facts): Problem | null {
  const { claims, cluster } = facts.observed;
  const size = parseQuantity(cluster.spec.storage.size) ?? 0;
  const small = claims.filter((claim) => claim.ours && claim.ordinal < facts.wanted && (claim.capacity ?? size) < size);
  const names = small.map((claim) => facts.claimNameOf(claim.ordinal)).join(", ");
  if (small.some((claim) => claim.expandable === false)) {
    return { reason: "StorageClassForbidsExpansion", message: `${names}: the storage class does not let volumes grow` };
  }
  return small.length === 0 ? null : { reason: "Growing", message: `${names}: not yet ${cluster.spec.storage.size}` };
}

/** A hold counts as the same while its rule and what it waits for stay the same. */
function blockedForMs({ now }: Observed, { blocker }: Plan, past: ClusterStatus | undefined): number {
  const before = past?.blocked;
  const isSame = blocker !== null && before?.gate === blocker.gate && before.target === blocker.target;
  return isSame ? now - Date.parse(before.since) : 0;
}

function unreadinessOf(
  facts: Facts,
  membership: Membership | null,
  isTemplateInForce: boolean,
  outdated: readonly string[],
  surrounding: Problem | null,
): Problem | null {
  const { refusal, set } = facts.observed;
  const obstacle = obstacleOf(facts);
  const hindered = obstacle === null ? null : { reason: obstacle.reason, message: sentenceOf(facts, obstacle) };
  if (membership === null) {
    const cause = hindered === null ? "" : `; ${hindered.message}`;
    return { reason: "NotAvailable", message: `no leader has confirmed its quorum${cause}` };
  }
  if (refusal !== null) {
    return refusal;
  }
  if (hindered !== null) {
    return hindered;
  }
  const surplus = membership.configuration.members.filter((slot) => facts.ordinalOf(slot) >= facts.wanted);
  const missing = membership.withoutVote.map((ordinal) => facts.nameOf(ordinal));
  const unhealthy = membership.voters.filter((slot) => !membership.isHealthy(slot)).map(({ name }) => name);
  const unready = membership.voters.filter((slot) => facts.readyForMs(slot) < 0).map(({ name }) => name);
  const problems: [boolean, string, string][] = [
    [missing.length > 0, "MembersMissing", `${missing.join(", ")} must become voters`],
    [surplus.length > 0, "MembersSurplus", `${surplus.map(({ name }) => name).join(", ")} must leave`],
    [unhealthy.length > 0, "MembersUnhealthy", `${unhealthy.join(", ")} must become healthy`],
    [!isTemplateInForce, "TemplateNotObserved", "the pod template is not in force yet"],
    // Services route to ready pods only, and users wait for this condition before they connect.
    [unready.length > 0, "MembersNotReady", `${unready.join(", ")} must become ready`],
    [outdated.length > 0, "MembersOutdated", `${outdated.join(", ")} must be restarted`],
    [
      set?.replicas !== facts.wanted,
      "PodsSurplus",
      `there are ${set?.replicas ?? 0} pods, but the specification asks for ${facts.wanted}`,
    ],
  ];
  const first = problems.find(([holds]) => holds);
  return first === undefined ? surrounding : { reason: first[1], message: first[2] };
}
