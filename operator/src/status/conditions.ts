/**
 * The conditions of a cluster, each with a status, a reason and a sentence. The transition time of a condition moves
 * only when its own status changes.
 */
import type { ConditionStatus } from "../generated/coordination-cluster.ts";
import type { BlockerReason, Failure } from "../plan/index.ts";
import type { Assessment } from "./assessment.ts";
import { backupVerdicts } from "./backup.ts";
import { clipped, timeText } from "./messages.ts";
import { recoveryVerdict } from "./recovery.ts";
import { restoreVerdict } from "./restore.ts";

/** A member that is away for less than this is expected back. */
const UNHEALTHY_MS = 60_000;
/** A hold that lasts longer needs a person. */
const BLOCKED_MS = 600_000;
/** An action that fails for longer needs a person, and so does a pod that cannot be created. */
const FAILING_MS = 60_000;
const OBSTACLES: ReadonlySet<BlockerReason> = new Set([
  "PodNotCreated",
  "PodNotScheduled",
  "VolumeNotCreated",
] as const);

const PAUSED = "until the annotation quoin.dev/paused is removed";

interface Verdict {
  readonly type: string;
  readonly status: ConditionStatus["status"];
  readonly reason: string;
  readonly message: string;
}

export function conditionsOf(assessment: Assessment, past: readonly ConditionStatus[]): ConditionStatus[] {
  const verdicts = [
    ready(assessment),
    available(assessment),
    progressing(assessment),
    degraded(assessment),
    quorumLost(assessment),
    membersReady(assessment),
    membersUpdated(assessment),
    verdict("VolumesReady", assessment.volumeProblem, "VolumesAsAsked"),
    verdict("TLSReady", assessment.surroundings.tlsProblem, "CertificatesInOrder"),
    verdict("MonitoringReady", assessment.surroundings.monitoringProblem, "MonitoringAsAsked"),
    verdict("OwnerSecretReady", assessment.surroundings.ownerProblem, "OwnerSecretPresent"),
    verdict("ReconcileSucceeded", assessment.surroundings.failures[0] ?? null, "Succeeded"),
    verdict("SpecAccepted", assessment.observed.refusal, "Accepted"),
    paused(assessment),
  ];
  const { now, cluster } = assessment.observed;
  const { backup } = assessment.surroundings;
  const ofBackups = backup === null ? [] : backupVerdicts(backup, now);
  const recovery = recoveryVerdict(assessment.observed, assessment.plan);
  const restore = restoreVerdict(assessment.observed, assessment.plan, past);
  const others = [recovery, restore].filter((found) => found !== null);
  return [...verdicts, ...ofBackups, ...others].map((found) =>
    dated(found, past, cluster.metadata.generation ?? 0, now),
  );
}

/**
 * Conditions after a pass that could not observe the cluster: those of the previous pass, updated with what this pass
 * knows.
 */
export function conditionsOfFailedReconcile(
  failure: Failure,
  past: readonly ConditionStatus[],
  observedGeneration: number,
  now: number,
): ConditionStatus[] {
  const { reason, message } = failure;
  const verdicts: Verdict[] = [
    { type: "Ready", status: "Unknown", reason, message },
    answer("Progressing", true, failure.gate, message),
    verdict("ReconcileSucceeded", failure, "Succeeded"),
    ...(now - failure.since < FAILING_MS ? [] : [answer("Degraded", true, reason, message)]),
  ];
  const kept = past.filter(({ type }) => verdicts.every((found) => found.type !== type));
  return [...verdicts.map((found) => dated(found, past, observedGeneration, now)), ...kept];
}

function dated(
  found: Verdict,
  past: readonly ConditionStatus[],
  observedGeneration: number,
  now: number,
): ConditionStatus {
  const before = past.find(({ type }) => type === found.type);
  const lastTransitionTime = before?.status === found.status ? before.lastTransitionTime : timeText(now);
  return { ...found, message: clipped(found.message), observedGeneration, lastTransitionTime };
}

function answer(type: string, isTrue: boolean, reason: string, message = ""): Verdict {
  return { type, status: isTrue ? "True" : "False", reason, message };
}

/** True unless there is a problem. */
function verdict(type: string, problem: { reason: string; message: string } | null, reason: string): Verdict {
  return problem === null ? answer(type, true, reason) : answer(type, false, problem.reason, problem.message);
}

function ready(assessment: Assessment): Verdict {
  const problem = assessment.unreadiness;
  const availability = available(assessment);
  if (availability.status === "Unknown") {
    return { ...availability, type: "Ready" };
  }
  return problem === null
    ? answer("Ready", true, "AsAsked", `${assessment.healthy.length} members are healthy and match the specification`)
    : answer("Ready", false, problem.reason, problem.message);
}

function available({ observed, quorumReadyPods, leaderName }: Assessment): Verdict {
  if (observed.configuration !== null) {
    return answer("Available", true, "QuorumConfirmed", `${leaderName ?? "the leader"} has confirmed its quorum`);
  }
  // Only a pod in contact with a leader is ready. So it is the operator that reaches no member.
  return quorumReadyPods && observed.reports.size === 0
    ? {
        type: "Available",
        status: "Unknown",
        reason: "MembersUnreachable",
        message: "a quorum of pods is ready, but the operator reaches none of them",
      }
    : answer("Available", false, "NoLeader", "no leader has confirmed its quorum");
}

function progressing({ observed, plan, isPaused }: Assessment): Verdict {
  if (plan.step !== null) {
    return answer("Progressing", true, plan.step.rule, plan.step.message);
  }
  if (plan.blocker !== null) {
    return answer("Progressing", true, plan.blocker.gate, plan.blocker.message);
  }
  if (observed.cluster.metadata.deletionTimestamp !== undefined) {
    return answer("Progressing", false, "Deleting", "Kubernetes deletes the objects of the cluster");
  }
  if (isPaused) {
    return answer("Progressing", false, "Paused", PAUSED);
  }
  const { refusal } = observed;
  return refusal === null
    ? answer("Progressing", false, "Settled", "there is nothing to do")
    : answer("Progressing", false, refusal.reason, refusal.message);
}

function degraded(assessment: Assessment): Verdict {
  const { observed, plan, surroundings, blockedForMs, broken, quorumLoss } = assessment;
  const away = assessment.unhealthy.find(({ forMs }) => forMs >= UNHEALTHY_MS);
  if (broken !== undefined) {
    return answer("Degraded", true, broken.reason, broken.message);
  }
  if (away !== undefined) {
    return answer("Degraded", true, "MemberUnhealthy", `${away.name} is not healthy`);
  }
  if (quorumLoss !== null) {
    return answer("Degraded", true, quorumLoss.reason, quorumLoss.message);
  }
  const failing = surroundings.failures.find(({ since }) => observed.now - since >= FAILING_MS);
  if (failing !== undefined) {
    return answer("Degraded", true, failing.reason, failing.message);
  }
  if (plan.blocker !== null && OBSTACLES.has(plan.blocker.reason) && blockedForMs >= FAILING_MS) {
    return answer("Degraded", true, plan.blocker.reason, plan.blocker.message);
  }
  if (plan.blocker !== null && plan.blocker.reason !== "ManualUpdate" && blockedForMs >= BLOCKED_MS) {
    return answer("Degraded", true, "Blocked", `${plan.blocker.gate} waits: ${plan.blocker.message}`);
  }
  return answer("Degraded", false, "Healthy");
}

function quorumLost({ quorumLoss }: Assessment): Verdict {
  return quorumLoss === null
    ? answer("QuorumLost", false, "QuorumNotLost")
    : answer("QuorumLost", true, quorumLoss.reason, quorumLoss.message);
}

function membersReady({ observed, wanted }: Assessment): Verdict {
  const readyPods = observed.pods.filter((pod) => pod.ordinal < wanted && pod.readySince !== null).length;
  return answer(
    "AllMembersReady",
    readyPods === wanted,
    readyPods === wanted ? "AllReady" : "NotAllReady",
    `${readyPods} of ${wanted}`,
  );
}

function membersUpdated({ isTemplateInForce, outdated }: Assessment): Verdict {
  if (!isTemplateInForce) {
    const message = "the pod template is not in force yet";
    return { type: "AllMembersUpdated", status: "Unknown", reason: "RevisionNotObserved", message };
  }
  return outdated.length === 0
    ? answer("AllMembersUpdated", true, "AllUpdated")
    : answer("AllMembersUpdated", false, "Outdated", `${outdated.join(", ")} must be restarted`);
}

function paused({ isPaused }: Assessment): Verdict {
  return answer("ReconcilePaused", isPaused, isPaused ? "Annotated" : "NotPaused", isPaused ? PAUSED : "");
}
