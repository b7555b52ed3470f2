/**
 * The conditions of a cluster: what holds now, each with a reason and a sentence. When it began to hold is kept from the
 * status before, and moves only with the condition's own status.
 */
import type { ConditionStatus } from "../generated/coordination-cluster.ts";
import { type Assessment, timeOf } from "./assessment.ts";

/** Members that are away for less than this are expected back. */
const UNHEALTHY_MS = 60_000;
/** What is held for longer needs a human. */
const HELD_MS = 600_000;

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
    verdict("SpecAccepted", assessment.observed.refusal, "Accepted"),
    paused(assessment),
  ];
  const { now, cluster } = assessment.observed;
  const observedGeneration = cluster.metadata.generation ?? 0;
  return verdicts.map((found) => {
    const before = past.find(({ type }) => type === found.type);
    const lastTransitionTime = before?.status === found.status ? before.lastTransitionTime : timeOf(now);
    return { ...found, observedGeneration, lastTransitionTime };
  });
}

function answer(type: string, isTrue: boolean, reason: string, message = ""): Verdict {
  return { type, status: isTrue ? "True" : "False", reason, message };
}

/** True unless something is wrong. */
function verdict(type: string, problem: { reason: string; message: string } | null, reason: string): Verdict {
  return problem === null ? answer(type, true, reason) : answer(type, false, problem.reason, problem.message);
}

function ready(assessment: Assessment): Verdict {
  const problem = assessment.unreadiness;
  return problem === null
    ? answer("Ready", true, "AsAsked", `${assessment.healthy.length} members are healthy and as they are asked for`)
    : answer("Ready", false, problem.reason, problem.message);
}

function available({ observed, quorumReadyPods, leaderName }: Assessment): Verdict {
  if (observed.configuration !== null) {
    return answer("Available", true, "QuorumConfirmed", `${leaderName ?? "the leader"} has confirmed its quorum`);
  }
  // Pods are only ready in contact with a leader: it is the operator that reaches nobody.
  return quorumReadyPods && observed.reports.size === 0
    ? {
        type: "Available",
        status: "Unknown",
        reason: "MembersUnreachable",
        message: "a quorum of pods is ready, and the operator reaches none",
      }
    : answer("Available", false, "NoLeader", "no leader has confirmed its quorum");
}

function progressing({ plan }: Assessment): Verdict {
  if (plan.step !== null) {
    return answer("Progressing", true, plan.step.rule, plan.step.message);
  }
  return plan.hold === null
    ? answer("Progressing", false, "Settled", "nothing is to be done")
    : answer("Progressing", true, plan.hold.gate, plan.hold.message);
}

function degraded(assessment: Assessment): Verdict {
  const { plan, heldForMs, broken } = assessment;
  const away = assessment.unhealthy.find(({ forMs }) => forMs >= UNHEALTHY_MS);
  if (broken !== undefined) {
    return answer("Degraded", true, broken.reason, broken.message);
  }
  if (away !== undefined) {
    return answer("Degraded", true, "MemberUnhealthy", `${away.name} is not healthy`);
  }
  if (plan.hold !== null && plan.hold.reason !== "ManualUpdate" && heldForMs >= HELD_MS) {
    return answer("Degraded", true, "Blocked", `${plan.hold.gate} waits: ${plan.hold.message}`);
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
  return answer(
    "ReconcilePaused",
    isPaused,
    isPaused ? "Annotated" : "NotPaused",
    isPaused ? "until quoin.dev/paused is removed" : "",
  );
}
