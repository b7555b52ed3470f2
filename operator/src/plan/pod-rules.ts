/** Restarts of pods that have never worked, and of pods whose template or volume has changed. */
import type { Facts, Membership } from "./facts.ts";
import { restartObjection } from "./gates.ts";
import type { PodView } from "./observed.ts";
import type { Blocker, Rule, Step } from "./plan.ts";
import { objectOf } from "./volume-rules.ts";

/** A pod that starts slowly, or that the kubelet restarts, gets this much time. */
const NOT_RUNNING_MS = 60_000;
const RESIZE_PENDING_MS = 5 * 60_000;
/** After this many, the pod is evicted while it leads. It hands over its leadership when it ends. */
const FAILED_TRANSFERS_MAX = 3;
/** Pause after a refused eviction. */
const EVICTION_PAUSE_MS = 5_000;
/**
 * Time between a handover and the end of the old leader: until the leader Service routes to the new leader, also on
 * nodes that update Services once a second. When the old leader ends, its clients reconnect through that Service.
 */
const HANDOVER_REST_MS = 3_000;

/**
 * A template that does not start must never block its own correction. This needs no leader and costs nothing, because
 * the pod does not run.
 */
export function recreateBroken(facts: Facts): Step | null {
  const { configuration, known, pods, set } = facts.observed;
  const voters = (configuration ?? known)?.members.filter((slot) => slot.voter) ?? [];
  const isProven = voters.some((slot) => {
    const pod = facts.podOf(facts.ordinalOf(slot));
    return pod?.revision === set?.updateRevision && facts.isHealthy(slot);
  });
  // The kubelet restarts a process that has ended. A process that it cannot start, it only retries.
  const isWorthIt = (pod: PodView): boolean =>
    pod.stuck ||
    (hasNotRun(facts, pod) && (!pod.everStarted || isProven || facts.hasLackedReadyQuorumForMs(NOT_RUNNING_MS)));
  const broken = pods.find((pod) => facts.isOutdated(pod) && !pod.terminating && isWorthIt(pod));
  if (broken === undefined) {
    return null;
  }
  const target = facts.nameOf(broken.ordinal);
  const message = `${target} does not run, but its template has changed`;
  return { rule: "RecreateBroken", target, message, action: { kind: "delete-pod", ...objectOf(broken) } };
}

function hasNotRun({ observed }: Facts, pod: PodView): boolean {
  const budgetMs = observed.cluster.spec.update.startupBudgetSeconds * 1000;
  const startedLate = pod.started || pod.runningSince === null ? Number.POSITIVE_INFINITY : pod.runningSince + budgetMs;
  return observed.now - (pod.notRunningSince ?? startedLate) >= NOT_RUNNING_MS;
}

/** Followers first, the leader last, and only while all other members are healthy. */
export function roll(membership: Membership): Step | Blocker | null {
  const { facts } = membership;
  const { cluster, pods, set } = facts.observed;
  if (set?.caughtUp === false) {
    const message = "the StatefulSet's controller has not seen the new template yet";
    return { gate: "Roll", reason: "RevisionNotObserved", target: cluster.metadata.name, message };
  }
  if (set?.isOverwritten === true) {
    const message = "others have changed the StatefulSet: no member restarts until the operator has restored it";
    return { gate: "Roll", reason: "RevisionNotObserved", target: cluster.metadata.name, message };
  }
  const outdated = pods.filter((pod) => facts.isOutdated(pod));
  const next = inOrder(membership, outdated)[0];
  if (next === undefined) {
    return null;
  }
  if (cluster.spec.update.mode === "Manual") {
    const target = facts.nameOf(next.ordinal);
    const message = `${target} is outdated: restart it with kubectl delete pod ${target}`;
    return { gate: "Roll", reason: "ManualUpdate", target, message };
  }
  return restart("Roll", membership, next, "is outdated");
}

function inOrder({ facts, configuration, healthy }: Membership, pods: readonly PodView[]): readonly PodView[] {
  const rank = (pod: PodView): number => {
    const slot = configuration.members.find((candidate) => facts.ordinalOf(candidate) === pod.ordinal);
    if (slot === undefined || !healthy.includes(slot)) {
      return 0;
    }
    return slot.id === configuration.leaderId ? 2 : 1;
  };
  return pods.toSorted((a, b) => rank(a) - rank(b) || b.ordinal - a.ordinal);
}

/** For a file system that can only grow while it is not mounted. */
export function resizeRestart(membership: Membership): Step | Blocker | null {
  const { facts } = membership;
  const { claims, now } = facts.observed;
  const pods = claims
    .filter(({ resizePendingSince: since }) => since !== null && now - since >= RESIZE_PENDING_MS)
    .flatMap(({ ordinal }) => facts.podOf(ordinal) ?? []);
  const next = inOrder(membership, pods)[0];
  return next === undefined
    ? null
    : restart("ResizeRestart", membership, next, "must release its volume, so that it can grow");
}

/** The hold for a refused eviction. */
export function budgetBlocker(gate: Rule, target: string): Blocker {
  const message = `a PodDisruptionBudget does not allow the eviction of ${target} now: see kubectl get pdb`;
  return { gate, reason: "DisruptionBudget", target, message };
}

function restart(rule: Rule, membership: Membership, pod: PodView, why: string): Step | Blocker {
  const { facts, configuration, voters } = membership;
  const target = facts.nameOf(pod.ordinal);
  const objection = restartObjection(membership, pod);
  if (objection !== null) {
    return { gate: rule, reason: objection.reason, target, message: `${target} ${why}, but ${objection.message}` };
  }
  const { failedTransfers, refusedEviction, handover } = facts.observed.attempts;
  const memberId = membership.slotOf(pod.ordinal)?.id;
  const leads = memberId === configuration.leaderId;
  const successor = leads && failedTransfers < FAILED_TRANSFERS_MAX ? membership.bestSuccessor(voters) : undefined;
  if (successor !== undefined) {
    const action = { kind: "transfer", targetId: successor.id, ifTerm: configuration.term } as const;
    return { rule, target: successor.name, message: `${target} leads and ${why}`, action };
  }
  if (handover !== null && handover.memberId === memberId && facts.observed.now - handover.at < HANDOVER_REST_MS) {
    const message = `${target} has just handed over the leadership: clients must reach the next leader first`;
    return { gate: rule, reason: "HandedOver", target, message };
  }
  if (refusedEviction?.podUid === pod.uid && facts.observed.now - refusedEviction.at < EVICTION_PAUSE_MS) {
    return budgetBlocker(rule, target);
  }
  return { rule, target, message: `${target} ${why}`, action: { kind: "evict", ...objectOf(pod) } };
}
