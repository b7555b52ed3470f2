/** How a cluster stands: what its conditions and its status are made of. */
import {
  type ClusterStatus,
  Facts,
  Membership,
  type Observed,
  type Plan,
  parseQuantity,
  type QuorumLoss,
  quorumLossOf,
  quorumOf,
  type Slot,
  votersOf,
} from "../plan/index.ts";

export interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** What others than the planner found out in this pass. */
export interface Surroundings {
  readonly tlsProblem: Problem | null;
  readonly monitoringProblem: Problem | null;
  /** When certificate and authority end, RFC 3339; null without certificates. */
  readonly tls: { readonly notAfter: string; readonly caNotAfter: string } | null;
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
  /** What does not mend itself, or is not expected to. */
  readonly broken: Problem | undefined;
  /** Whether pods that are made now are as they are asked for, and those with an older template are known. */
  readonly isTemplateInForce: boolean;
  /** Names of the pods with the template before. */
  readonly outdated: readonly string[];
  readonly volumeProblem: Problem | null;
  readonly quorumLoss: QuorumLoss | null;
  readonly leaderName: string | undefined;
  readonly quorumReadyPods: boolean;
  readonly heldForMs: number;
  readonly isPaused: boolean;
  /** Why the cluster is not as it is asked for; null if it is. */
  readonly unreadiness: Problem | null;
}

export function assess(observed: Observed, plan: Plan, surroundings: Surroundings): Assessment {
  const facts = new Facts(observed);
  const membership = observed.configuration === null ? null : new Membership(facts, observed.configuration);
  const voters = votersOf(observed.configuration ?? observed.known);
  const past = observed.cluster.status;
  const healthy = membership?.healthy ?? [];
  const readyPods = observed.pods.filter((pod) => pod.readySince !== null).length;
  const outdated = observed.pods.filter((pod) => facts.isOutdated(pod)).map((pod) => facts.nameOf(pod.ordinal));
  const volumeProblem = volumeProblemOf(facts);
  const { drift, set } = observed;
  const isTemplateInForce = set?.caughtUp === true && !drift.some(({ kind }) => kind === "StatefulSet");
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
    quorumLoss: quorumLossOf(facts),
    leaderName: observed.configuration?.members.find((slot) => slot.id === observed.configuration?.leaderId)?.name,
    quorumReadyPods: readyPods >= quorumOf(Math.max(1, voters.length)),
    heldForMs: heldForMs(observed, plan, past),
    isPaused: observed.cluster.metadata.annotations?.["quoin.dev/paused"] === "true",
    unreadiness: unreadinessOf(
      facts,
      membership,
      isTemplateInForce,
      outdated,
      volumeProblem ?? surroundings.tlsProblem,
    ),
  };
}

/** As Kubernetes writes times: to the second. */
export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}

function isWell(facts: Facts, membership: Membership | null, slot: Slot): boolean {
  // Without a leader nobody knows who is behind; who is ready hears one.
  return membership === null ? facts.readyForMs(slot) >= 0 : membership.isHealthy(slot);
}

/** Since its pod is not ready; without such a pod, since not all were. */
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
          message: `${name} has lost the end of its log, and mends itself without a vote`,
        };
      case "MEMBER_REFUSED":
        return { reason: "MemberRefused", message: `${name} cannot use its data: see kubectl logs ${name}` };
      case "WRONG_CLUSTER":
        return { reason: "WrongCluster", message: `${name} has the data of another cluster` };
    }
    if (!pod.started && pod.runningSince !== null && now - pod.runningSince > budgetMs) {
      return { reason: "StartupBudgetSpent", message: `${name} has not opened its stores in ${budgetMs / 1000} s` };
    }
  }
  return undefined;
}

function volumeProblemOf(facts: Facts): Problem | null {
  const { claims, cluster } = facts.observed;
  const size = parseQuantity(cluster.spec.storage.size) ?? 0;
  const small = claims.filter((claim) => claim.ours && claim.ordinal < facts.wanted && (claim.capacity ?? size) < size);
  const names = small.map((claim) => facts.claimNameOf(claim.ordinal)).join(", ");
  if (small.some((claim) => claim.expandable === false)) {
    return { reason: "StorageClassForbidsExpansion", message: `${names}: the storage class lets no volume grow` };
  }
  return small.length === 0 ? null : { reason: "Growing", message: `${names}: not yet ${cluster.spec.storage.size}` };
}

/** A hold is the same while its rule and what it waits for are. */
function heldForMs({ now }: Observed, { hold }: Plan, past: ClusterStatus | undefined): number {
  const before = past?.blocked;
  const isSame = hold !== null && before?.gate === hold.gate && before.target === hold.target;
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
  if (membership === null) {
    return { reason: "NotAvailable", message: "no leader has confirmed its quorum" };
  }
  if (refusal !== null) {
    return refusal;
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
    // Services lead to ready pods alone: who waits for this condition wants to connect.
    [unready.length > 0, "MembersNotReady", `${unready.join(", ")} must become ready`],
    [outdated.length > 0, "MembersOutdated", `${outdated.join(", ")} must be restarted`],
    [
      set?.replicas !== facts.wanted,
      "PodsSurplus",
      `there are ${set?.replicas ?? 0} pods, and ${facts.wanted} are wanted`,
    ],
  ];
  const first = problems.find(([holds]) => holds);
  return first === undefined ? surrounding : { reason: first[1], message: first[2] };
}
