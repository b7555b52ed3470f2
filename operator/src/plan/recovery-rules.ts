/**
 * The recovery of a lost quorum, step by step. All members stop, and a pod on each volume reports what its member
 * knows. The data of the most advanced member becomes that of a new cluster, and this member starts as the only voter.
 * The volumes of the others are deleted only after a leader of the new cluster has confirmed its quorum.
 *
 * Each step follows from the objects and the note, so another operator can continue at any point. Only the pod on the
 * chosen volume changes data, and it finds out itself whether it has done so before.
 */
import { judgeArchive } from "./archive-comparison.ts";
import type { Facts, Membership } from "./facts.ts";
import type { ClaimView } from "./observed.ts";
import type { Blocker, BlockerReason, Step } from "./plan.ts";
import { quorumLossOf } from "./quorum-loss.ts";
import {
  acceptingValue,
  choose,
  formerIdsOf,
  RECOVER_QUORUM,
  type RecoveryNote,
  type RecoveryPodView,
  requestOf,
  type Surveyed,
  type Survivor,
} from "./recovery.ts";
import { objectOf } from "./volume-rules.ts";

const RULE = "RecoverQuorum";
/** How long a failed pod stays, so that people can read its log. */
const RETRY_MS = 10_000;
/** After this long without a leader and without an answer, the members cannot report what is lost. */
const SILENT_MS = 60_000;
/** Exit codes of `quoin-node recover` after which the data is unchanged. */
const UNCHANGED: ReadonlySet<number> = new Set([73, 74, 76]);

/** The requested or present recovery. All other rules wait meanwhile. */
export function recoverQuorum(facts: Facts): Step | Blocker | null {
  const { note } = facts.observed.recovery;
  switch (note?.phase) {
    case "Surveying":
      return survey(facts, note);
    case "Recovering":
      return recover(facts, note);
    case "Starting":
      return dropPods(facts);
    case "CallingOff":
      return dropPods(facts) ?? endCalledOff(facts, note);
    default:
      return begin(facts);
  }
}

/** Once a leader of the new cluster has confirmed its quorum. */
export function finishRecovery({ facts, configuration }: Membership): Step | null {
  const { cluster, identity, now, recovery } = facts.observed;
  const { note } = recovery;
  if (note?.phase !== "Starting" || identity?.clusterId !== note.clusterId) {
    return null;
  }
  const { name: target } = cluster.metadata;
  const leader = configuration.members.find(({ id }) => id === configuration.leaderId)?.name ?? "the leader";
  const seconds = Math.round((now - note.startedAt) / 1_000);
  const message = `${leader} leads cluster ${note.clusterId}, ${seconds} s after the recovery began`;
  return {
    rule: RULE,
    target,
    message,
    action: { kind: "end-recovery", note: { ...note, phase: "Finished", message } },
  };
}

function begin(facts: Facts): Step | null {
  const { cluster, identity, now, recovery } = facts.observed;
  const asked = cluster.metadata.annotations?.[RECOVER_QUORUM];
  if (asked === undefined || identity === null) {
    return null;
  }
  const refusal = refusalOf(facts, asked, identity.clusterId);
  const target = cluster.metadata.name;
  if (refusal !== null) {
    const past = recovery.note ?? { formerId: identity.clusterId, clusterId: "", startedAt: now };
    const note = { ...past, phase: "Refused", ...refusal } as const;
    return { rule: RULE, target, message: refusal.message, action: { kind: "end-recovery", note } };
  }
  const loss = lossOf(facts);
  if (loss === null) {
    return null;
  }
  const message = `the recovery of cluster ${identity.clusterId} begins (${loss}): all members stop, and each volume is read`;
  const formerIds = formerIdsOf(recovery.note, identity.clusterId);
  const note = { phase: "Surveying", formerId: identity.clusterId, formerIds, startedAt: now, message } as const;
  return { rule: RULE, target, message, action: { kind: "begin-recovery", note } };
}

/** @returns why there is nothing to recover; null if there is, or if that is not known yet */
function refusalOf(facts: Facts, asked: string, clusterId: string): { reason: string; message: string } | null {
  const { configuration, cluster } = facts.observed;
  if (requestOf(asked).clusterId !== clusterId) {
    if (asked.startsWith(`${clusterId}:`)) {
      const message = `${RECOVER_QUORUM} must be the id of the cluster, or ${acceptingValue(clusterId, "INDEX")}: nothing was changed`;
      return { reason: "RequestMalformed", message };
    }
    const message = `${RECOVER_QUORUM} names cluster ${asked}, but this is cluster ${clusterId}: nothing was changed`;
    return { reason: "OtherCluster", message };
  }
  if (configuration !== null) {
    const leader = configuration.members.find(({ id }) => id === configuration.leaderId)?.name ?? "a leader";
    return { reason: "QuorumLives", message: `${leader} leads, and a majority answers: nothing was changed` };
  }
  switch (quorumLossOf(facts)?.reason) {
    case "NoLeaderElected":
      return {
        reason: "QuorumLives",
        message: `a majority of the members runs, but elects no leader. Find out what blocks their traffic, for example on port 7402: nothing was changed`,
      };
    case "AllDataLost":
      return {
        reason: "NothingToRecover",
        message: `no volume has data of cluster ${clusterId}. Restore it from a backup: create ${cluster.metadata.name} again with spec.restoreFrom`,
      };
    default:
      return null;
  }
}

/** @returns how the quorum was lost; null while a leader may return by itself */
function lossOf(facts: Facts): string | null {
  const loss = quorumLossOf(facts);
  if (loss !== null) {
    return loss.message;
  }
  const { known, leaderlessSince, now } = facts.observed;
  const isSilent = known === null && leaderlessSince !== null && now - leaderlessSince >= SILENT_MS;
  return isSilent ? "no member answers" : null;
}

function survey(facts: Facts, note: RecoveryNote): Step | Blocker {
  if (!isAsked(facts, note)) {
    return callOff(facts, note, "Cancelled", "the annotation was removed or changed");
  }
  return stopMembers(facts) ?? readVolumes(facts, note);
}

function recover(facts: Facts, note: RecoveryNote): Step | Blocker {
  const { survivor } = note;
  return survivor === undefined
    ? callOff(facts, note, "NoSurvivor", "no survivor is noted")
    : (stopMembers(facts) ?? recoverVolume(facts, note, survivor));
}

/** Done when the set has no pod and its pods are gone: then none of their processes uses a volume. */
function stopMembers(facts: Facts): Step | Blocker | null {
  const { cluster, pods, set } = facts.observed;
  if (set !== null && set.replicas > 0) {
    return {
      rule: RULE,
      target: cluster.metadata.name,
      message: "all members stop",
      action: { kind: "scale-set", replicas: 0, resourceVersion: set.resourceVersion },
    };
  }
  const [left] = pods;
  if (left === undefined) {
    return null;
  }
  const target = facts.nameOf(left.ordinal);
  const message = `waiting for ${target} to end. If its node is gone for good: kubectl delete pod ${target} --force`;
  return wait("StoppingMembers", target, message);
}

function readVolumes(facts: Facts, note: RecoveryNote): Step | Blocker {
  const claims = facts.observed.claims
    .filter(({ bound, terminating, foreign }) => bound && !terminating && !foreign)
    .toSorted((a, b) => a.ordinal - b.ordinal);
  // Creates one pod in each pass, and waits for none of them until all exist.
  for (const { ordinal } of claims) {
    const pod = podOn(facts, ordinal);
    if (pod === undefined) {
      const target = facts.claimNameOf(ordinal);
      const action = { kind: "create-recovery-pod", ordinal, stage: "survey", attempt: note.clusterId } as const;
      return { rule: RULE, target, message: `a pod reads ${target}`, action };
    }
    if (!isOf(pod, note, "survey") && !pod.terminating) {
      return dropPod(facts, pod);
    }
  }
  const surveyed: Surveyed[] = [];
  for (const { ordinal } of claims) {
    const pod = podOn(facts, ordinal);
    const report = pod !== undefined && isOf(pod, note, "survey") ? pod.end?.report : undefined;
    if (pod === undefined || report === undefined || report.kind === "successor") {
      return waitForPod(facts, ordinal, pod, "SurveyingVolumes");
    }
    if (report.kind === "problem" && report.mayPass) {
      return again(facts, pod, report.problem);
    }
    surveyed.push({ ordinal, report });
  }
  return decide(facts, note, surveyed);
}

function decide(facts: Facts, note: RecoveryNote, surveyed: readonly Surveyed[]): Step | Blocker {
  const choice = choose(note.formerId, surveyed);
  const found = surveyed.map((each) => wordsOf(facts, note, each)).join("; ") || "there is no volume";
  switch (choice.kind) {
    case "none":
      return callOff(facts, note, "NothingToRecover", `${found}. Restore the cluster from a backup`);
    case "quorum":
      return callOff(
        facts,
        note,
        "QuorumLives",
        `${choice.whole} of ${choice.voters} voters have their data, which is a majority: ${found}`,
      );
    case "survivor": {
      const { survivor, archive } = choice;
      const verdict = judgeArchive(facts, survivor, archive);
      switch (verdict.kind) {
        case "wait":
          return readAgain(facts, survivor, verdict.message);
        case "refuse":
          return callOff(facts, note, verdict.reason, verdict.why, verdict.next);
        case "go":
          return chooseSurvivor(facts, note, survivor, [found, ...verdict.found].join("; "));
      }
    }
  }
}

/** Another pod on the survivor's volume tries to read the archive. */
function readAgain(facts: Facts, { ordinal }: Survivor, problem: string): Step | Blocker {
  const pod = podOn(facts, ordinal);
  return pod === undefined ? waitForPod(facts, ordinal, pod, "SurveyingVolumes") : again(facts, pod, problem);
}

function chooseSurvivor(facts: Facts, note: RecoveryNote, survivor: Survivor, found: string): Step {
  const target = facts.nameOf(survivor.ordinal);
  const message = `${target} is the survivor: writes after index ${survivor.lastIndex} of term ${survivor.lastTerm} are lost (${found})`;
  const action = { kind: "note-recovery", note: { ...note, phase: "Recovering", survivor, message } } as const;
  return { rule: RULE, target, message, action };
}

function wordsOf(facts: Facts, { formerId }: RecoveryNote, { ordinal, report }: Surveyed): string {
  const name = facts.nameOf(ordinal);
  if (report.kind === "problem") {
    // The rest is advice for people who run the command by hand.
    return `${name}: ${report.problem.split(". ")[0]}`;
  }
  const { clusterId, lastTerm, lastIndex } = report.member;
  return clusterId === formerId
    ? `${name}: last term ${lastTerm}, last index ${lastIndex}`
    : `${name}: data of cluster ${clusterId}`;
}

function recoverVolume(facts: Facts, note: RecoveryNote, survivor: Survivor): Step | Blocker {
  const { ordinal } = survivor;
  const other = facts.observed.recovery.pods.find((pod) => pod.ordinal !== ordinal || !isOf(pod, note, "recover"));
  if (other !== undefined) {
    return other.terminating ? waitForPod(facts, other.ordinal, other, "RecoveringVolume") : dropPod(facts, other);
  }
  const claim = facts.claimOf(ordinal);
  const target = facts.claimNameOf(ordinal);
  if (claim === undefined || claim.terminating) {
    return isAsked(facts, note)
      ? wait(
          "RecoveryFails",
          target,
          `${target} is gone: to start the recovery again, remove the annotation ${RECOVER_QUORUM}, and set it again`,
        )
      : callOff(facts, note, "SurvivorLost", `${target} is gone`);
  }
  const pod = podOn(facts, ordinal);
  if (pod === undefined) {
    const action = {
      ...({ kind: "create-recovery-pod", ordinal, stage: "recover", attempt: note.clusterId } as const),
      lastIndex: survivor.lastIndex,
    };
    return { rule: RULE, target, message: `the data of ${target} becomes that of cluster ${note.clusterId}`, action };
  }
  const { end } = pod;
  if (end === null) {
    return waitForPod(facts, ordinal, pod, "RecoveringVolume");
  }
  if (end.report.kind !== "successor") {
    const problem = end.report.kind === "problem" ? end.report.problem : "it has only read the data";
    return UNCHANGED.has(end.exitCode) && !isAsked(facts, note)
      ? callOff(
          facts,
          note,
          "Cancelled",
          `the annotation was removed, and the data of ${target} is unchanged: ${problem}`,
        )
      : again(facts, pod, problem);
  }
  return place(facts, note, claim, end.report);
}

/** The claim comes first: once the identity names the new cluster, all other volumes belong to the former one. */
function place(
  facts: Facts,
  note: RecoveryNote,
  claim: ClaimView,
  { clusterId, memberId }: { readonly clusterId: string; readonly memberId: number },
): Step | Blocker {
  const target = facts.claimNameOf(claim.ordinal);
  if (clusterId !== note.clusterId) {
    const message = `${target} has become cluster ${clusterId}, not ${note.clusterId}: someone else has recovered it`;
    return wait("RecoveryFails", target, message);
  }
  if (claim.clusterId !== clusterId || claim.memberId !== memberId) {
    const action = { kind: "hand-over-claim", clusterId, memberId, ...objectOf(claim) } as const;
    return { rule: RULE, target, message: `${target} belongs to cluster ${clusterId}`, action };
  }
  const name = facts.nameOf(claim.ordinal);
  const message = `${name} starts as the only voter of cluster ${clusterId}, which takes over from cluster ${note.formerId}`;
  return {
    rule: RULE,
    target: name,
    message,
    action: { kind: "commit-recovery", note: { ...note, phase: "Starting", message } },
  };
}

/** The members can start again as before, because their data was only read. */
function callOff(facts: Facts, note: RecoveryNote, reason: string, why: string, next?: string): Step {
  const message = `${why}. The members start again with the data that they have${next === undefined ? "" : `. ${next}`}`;
  const called = { ...note, phase: "CallingOff", reason, message } as const;
  const target = facts.observed.cluster.metadata.name;
  return { rule: RULE, target, message, action: { kind: "note-recovery", note: called } };
}

function endCalledOff(facts: Facts, note: RecoveryNote): Step {
  const { message } = note;
  const target = facts.observed.cluster.metadata.name;
  return { rule: RULE, target, message, action: { kind: "end-recovery", note: { ...note, phase: "CalledOff" } } };
}

function dropPods(facts: Facts): Step | Blocker | null {
  const [pod] = facts.observed.recovery.pods;
  if (pod === undefined) {
    return null;
  }
  return pod.terminating ? waitForPod(facts, pod.ordinal, pod, "RecoveringVolume") : dropPod(facts, pod);
}

function dropPod(facts: Facts, pod: RecoveryPodView): Step {
  const target = facts.recoveryPodNameOf(pod.ordinal);
  const { ordinal, uid, resourceVersion } = pod;
  const action = { kind: "delete-recovery-pod", ordinal, uid, resourceVersion } as const;
  return { rule: RULE, target, message: `${target} has done its work`, action };
}

/** A failed pod is created again, after a pause. */
function again(facts: Facts, pod: RecoveryPodView, problem: string): Step | Blocker {
  const { now } = facts.observed;
  return pod.end !== null && now - pod.end.at >= RETRY_MS
    ? dropPod(facts, pod)
    : wait("RecoveryFails", facts.recoveryPodNameOf(pod.ordinal), problem);
}

function waitForPod(facts: Facts, ordinal: number, pod: RecoveryPodView | undefined, reason: BlockerReason): Blocker {
  const target = facts.recoveryPodNameOf(ordinal);
  const claim = facts.claimNameOf(ordinal);
  const advice = `if that volume is gone for good: kubectl delete pvc ${claim} --wait=false`;
  const waitsFor = pod?.waitsFor ?? null;
  const message =
    waitsFor === null ? `waiting for ${target} to end, on ${claim}` : `${target} does not run: ${waitsFor}; ${advice}`;
  return wait(reason, target, message);
}

function wait(reason: BlockerReason, target: string, message: string): Blocker {
  return { gate: RULE, reason, target, message };
}

function podOn({ observed }: Facts, ordinal: number): RecoveryPodView | undefined {
  return observed.recovery.pods.find((pod) => pod.ordinal === ordinal);
}

function isOf({ attempt, stage }: RecoveryPodView, note: RecoveryNote, wanted: RecoveryPodView["stage"]): boolean {
  return attempt === note.clusterId && stage === wanted;
}

function isAsked({ observed }: Facts, { formerId }: RecoveryNote): boolean {
  const asked = observed.cluster.metadata.annotations?.[RECOVER_QUORUM];
  return asked !== undefined && requestOf(asked).clusterId === formerId;
}
