/** Slots: surplus ones, those whose data is lost, new ones, and learners that may vote. */
import type { Membership } from "./facts.ts";
import type { Slot } from "./observed.ts";
import type { Blocker, Rule, Step } from "./plan.ts";
import { quorumOf } from "./quorum.ts";

/** A process that finds its slot taken asks other members first; one of them may know better. */
const DATA_LOST_MS = 10_000;

/** Removes a learner that is no longer wanted. */
export function cancelSlot(membership: Membership): Step | null {
  const { facts, learners } = membership;
  const learner = learners.find((slot) => facts.ordinalOf(slot) >= facts.wanted);
  return learner === undefined ? null : remove("CancelSlot", membership, [learner], "is no longer wanted");
}

/** The process runs, but its data is lost: the slot is removed, and the same process gets a new one. */
export function replaceLost(membership: Membership): Step | Blocker | null {
  const { facts, configuration, healthy, quorum } = membership;
  let blocker: Blocker | null = null;
  for (const slot of configuration.members) {
    const report = facts.reportOf(facts.ordinalOf(slot));
    const pod = slot.name;
    if (slot.incarnation === undefined || report === undefined) {
      continue;
    }
    if (report.state === "MEMBER_REFUSED") {
      const command = `kubectl delete pvc data-${pod} --wait=false && kubectl delete pod ${pod}`;
      const message = `${pod} cannot use its data; see its log, and give the volume up with ${command}`;
      blocker ??= { gate: "ReplaceLost", reason: "MemberRefused", target: pod, message };
    }
    const isLost = report.state === "MEMBER_DATA_LOST" && report.stateForMs >= DATA_LOST_MS;
    if (!isLost || report.incarnation === slot.incarnation) {
      continue;
    }
    if (!slot.voter || healthy.length >= quorum) {
      return remove("ReplaceLost", membership, [slot], "has lost its data");
    }
    const message = `${pod} has lost its data, and ${quorum} healthy voters are needed to replace it: there are ${healthy.length}`;
    blocker ??= { gate: "ReplaceLost", reason: "MemberDataLost", target: pod, message };
  }
  return blocker;
}

/** Voters are added in pairs, so that their number stays odd; it is even only after the loss of a disk. */
export function promote(membership: Membership): Step | null {
  const { facts, voters, learners, healthy, isOdd, withoutVote, configuration } = membership;
  const count = isOdd ? Math.min(2, withoutVote.length) : 1;
  const chosen = learners
    .filter((slot) => {
      const ordinal = facts.ordinalOf(slot);
      return slot.promotable && withoutVote.includes(ordinal) && facts.claimOf(ordinal)?.memberId === slot.id;
    })
    .toSorted((a, b) => facts.ordinalOf(a) - facts.ordinalOf(b))
    .slice(0, count);
  if (count === 0 || chosen.length < count || healthy.length + count < quorumOf(voters.length + count)) {
    return null;
  }
  const target = namesOf(chosen);
  const action = { kind: "promote", ids: chosen.map(({ id }) => id), ifConfigIndex: configuration.index } as const;
  return { rule: "Promote", target, message: `${target} caught up`, action };
}

/** Adds a slot for a wanted member; its process must be empty. */
export function addSlot(membership: Membership): Step | Blocker | null {
  const { facts, configuration, learners, isOdd, missing } = membership;
  const replicas = facts.observed.set?.replicas ?? 0;
  if (learners.length >= (isOdd ? 2 : 1)) {
    return null;
  }
  const isFree = (ordinal: number): boolean =>
    ordinal < replicas ? facts.reportOf(ordinal)?.state === "EMPTY" : facts.claimOf(ordinal) === undefined;
  const ordinal = missing.find(isFree);
  if (ordinal !== undefined) {
    const name = facts.nameOf(ordinal);
    const action = { kind: "add-slot", name, ifConfigIndex: configuration.index } as const;
    return { rule: "AddSlot", target: name, message: `${name} becomes a member`, action };
  }
  const stale = missing.find((candidate) => candidate >= replicas && facts.claimOf(candidate)?.terminating === false);
  if (stale === undefined) {
    return null;
  }
  const target = facts.claimNameOf(stale);
  const message = `${target} is left over from an earlier member: give it up with kubectl delete pvc ${target}`;
  return { gate: "AddSlot", reason: "StaleVolume", target, message };
}

/** Removes surplus voters: a broken one first, then in pairs, never the leader. */
export function scaleDown(membership: Membership): Step | Blocker | null {
  const { facts, voters, healthy, quorum, isOdd } = membership;
  const surplus = voters
    .filter((slot) => facts.ordinalOf(slot) >= facts.wanted)
    .toSorted((a, b) => facts.ordinalOf(b) - facts.ordinalOf(a));
  if (surplus.length === 0) {
    return null;
  }
  const unhealthy = voters.filter((slot) => !membership.isHealthy(slot));
  const broken = surplus.find((slot) => !membership.isHealthy(slot));
  const obstacle = broken === undefined ? unhealthy[0] : healthy.length < quorum ? broken : undefined;
  if (obstacle !== undefined) {
    const message = `${obstacle.name} is not healthy: see kubectl describe pod ${obstacle.name}`;
    return { gate: "ScaleDown", reason: "MemberUnhealthy", target: obstacle.name, message };
  }
  const leaving = broken === undefined ? surplus.slice(0, isOdd ? 2 : 1) : [broken];
  return leave(membership, leaving);
}

function leave(membership: Membership, leaving: readonly Slot[]): Step | Blocker {
  const { facts, configuration, voters } = membership;
  const staying = voters.filter((slot) => facts.ordinalOf(slot) < facts.wanted);
  const leads = leaving.find((slot) => slot.id === configuration.leaderId);
  if (!staying.some((slot) => membership.isHealthy(slot))) {
    const target = namesOf(leaving);
    const message = `${target} cannot leave: no healthy voter would remain`;
    return { gate: "ScaleDown", reason: "NoTransferTarget", target, message };
  }
  if (leads === undefined) {
    return remove("ScaleDown", membership, leaving, "is no longer wanted");
  }
  const successor = membership.bestSuccessor(staying);
  if (successor === undefined) {
    const message = `${leads.name} leads, and no other member can take over`;
    return { gate: "ScaleDown", reason: "NoTransferTarget", target: leads.name, message };
  }
  const action = { kind: "transfer", targetId: successor.id, ifTerm: configuration.term } as const;
  return {
    rule: "ScaleDown",
    target: successor.name,
    message: `${leads.name} leads, but must leave the cluster`,
    action,
  };
}

/** Nothing else happens while members join. The hold names the member that is furthest from its vote. */
export function awaitLearner({ facts, learners, missing, isOdd }: Membership): Blocker | null {
  const onTheirWay = [
    ...learners.map((slot) => ({ slot, ordinal: facts.ordinalOf(slot), target: slot.name })),
    ...(learners.length < (isOdd ? 2 : 1) ? missing : []).map((ordinal) => ({
      slot: undefined,
      ordinal,
      target: facts.nameOf(ordinal),
    })),
  ];
  const isRunning = ({ ordinal }: { readonly ordinal: number }): boolean =>
    (facts.podOf(ordinal)?.runningSince ?? null) !== null;
  const waiting = onTheirWay.find((each) => !isRunning(each)) ?? onTheirWay.find(({ slot }) => slot === undefined);
  if (waiting !== undefined) {
    const { target, ordinal } = waiting;
    const message =
      facts.podOf(ordinal) === undefined
        ? `waiting for Kubernetes to create ${target}: see kubectl describe statefulset ${facts.observed.cluster.metadata.name}`
        : `waiting for ${target} to start: see kubectl describe pod ${target}`;
    return { gate: "AwaitLearner", reason: "WaitingForPod", target, message };
  }
  const unclaimed = learners.find(({ incarnation }) => incarnation === undefined);
  if (unclaimed !== undefined) {
    const target = unclaimed.name;
    return { gate: "AwaitLearner", reason: "WaitingForClaim", target, message: `${target} has not taken its slot yet` };
  }
  const learner = learners.find(({ promotable }) => !promotable) ?? learners[0];
  if (learner === undefined) {
    return null;
  }
  const { name: target, promotable, lagMs } = learner;
  const message = promotable ? `${target} has caught up, and will get its vote` : `${target} is ${lagMs} ms behind`;
  return { gate: "AwaitLearner", reason: "CatchingUp", target, message };
}

function remove(rule: Rule, { configuration }: Membership, slots: readonly Slot[], why: string): Step {
  const target = namesOf(slots);
  const action = { kind: "remove", ids: slots.map(({ id }) => id), ifConfigIndex: configuration.index } as const;
  return { rule, target, message: `${target} ${why}`, action };
}

function namesOf(slots: readonly Slot[]): string {
  return slots.map(({ name }) => name).join(", ");
}
