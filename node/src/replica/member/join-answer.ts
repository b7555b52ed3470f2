/**
 * This member's answer to a process that asks for a slot, or for the list of members.
 *
 * Only an entry of the log gives a slot, and so to one data directory (P61). If the applied state is enough to refuse
 * the process, the answer comes at once, without a majority. A process that asks for a slot that does not exist causes
 * no write.
 */

import type { JoinAnswer, JoinRequest } from "../../peers/index.ts";
import { invariant } from "../../primitives/index.ts";
import {
  type Cluster,
  type ClusterMember,
  CoordinationError,
  type Outcome,
  readCluster,
  readFormerCluster,
} from "../../state/index.ts";
import type { Clock, ReplicaStatus } from "../context/index.ts";
import type { Replica } from "../driver/index.ts";
import { claimedMembers, type PeerDirectory } from "./peer-directory.ts";

/** A claim is logged like any command. The process that asks waits at most this long for it, in milliseconds. */
const CLAIM_MS_MAX = 5_000;

interface AnsweringReplica extends Pick<Replica, "state" | "readBarrier" | "proposeClusterOperation"> {
  status(): Pick<ReplicaStatus, "appliedIndex">;
}

/** The member that answers. */
interface Answering {
  readonly replica: AnsweringReplica;
  readonly directory: Pick<PeerDirectory, "certainIndex" | "incarnationOf">;
}

/** Answers for a running member. Never rejects for a condition that may pass: the caller gets TRY_LATER instead. */
export async function answerJoin(member: Answering, clock: Clock, request: JoinRequest): Promise<JoinAnswer> {
  const { replica } = member;
  const cluster = readCluster(replica.state);
  if (cluster === undefined) {
    return { result: "TRY_LATER" };
  }
  const isOtherId = request.clusterId !== null && request.clusterId !== cluster.clusterId;
  if (isOtherId || request.clusterName !== cluster.name) {
    return wrongCluster(replica, cluster, request);
  }
  if (request.versions.min > cluster.version || request.versions.max < cluster.version) {
    return { result: "VERSION" };
  }
  if (request.memberId !== 0) {
    return answerMember(member, cluster, request);
  }
  const deadlineMs = clock.monotonicMs() + CLAIM_MS_MAX;
  return answerClaimant(replica, cluster, request, deadlineMs);
}

/** Names this cluster as the successor if it took over the state of the process's cluster. */
function wrongCluster({ state }: AnsweringReplica, { clusterId }: Cluster, request: JoinRequest): JoinAnswer {
  const former = request.clusterId === null ? undefined : readFormerCluster(state, request.clusterId);
  return former === undefined
    ? { result: "WRONG_CLUSTER" }
    : { result: "WRONG_CLUSTER", successor: { clusterId, sinceMs: former.endedAtMs } };
}

/** The answer to a member that has its slot already: the list of members. */
function answerMember({ replica, directory }: Answering, cluster: Cluster, request: JoinRequest): JoinAnswer {
  const { memberId, incarnation } = request;
  const slot = cluster.members.find(({ id }) => id === memberId);
  if (slot?.incarnation.toHex() === incarnation) {
    return accepted(replica, memberId);
  }
  // Use only what is durable: a member that gets this answer gives up its data for good.
  if (slot === undefined && memberId <= directory.certainIndex && directory.incarnationOf(memberId) === undefined) {
    return { result: "REMOVED" };
  }
  // This member has not applied that entry yet, or the slot belongs to another directory.
  const isOthers = slot !== undefined && slot.incarnation.length > 0;
  return isOthers ? { result: "SLOT_TAKEN", memberId } : { result: "TRY_LATER" };
}

async function answerClaimant(
  replica: AnsweringReplica,
  cluster: Cluster,
  request: JoinRequest,
  deadlineMs: number,
): Promise<JoinAnswer> {
  let slot = slotNamed(cluster, request.name);
  if (slot === undefined) {
    if (!(await isCurrent(replica, deadlineMs))) {
      return { result: "TRY_LATER" };
    }
    const current = readCluster(replica.state);
    invariant(current !== undefined, "a cluster stays founded");
    slot = slotNamed(current, request.name);
    if (slot === undefined) {
      return { result: "NO_SLOT" };
    }
    return claim(replica, request, deadlineMs);
  }
  return isTaken(cluster, slot, request.incarnation)
    ? { result: "SLOT_TAKEN", memberId: slot.id }
    : claim(replica, request, deadlineMs);
}

/** Whether the directory that asks can never get the slot, whatever else is in the log. */
function isTaken(cluster: Cluster, slot: ClusterMember, incarnation: string): boolean {
  if (slot.incarnation.length === 0) {
    return false;
  }
  // A voter has acknowledged entries: a directory that is empty again has lost them (P46).
  return slot.incarnation.toHex() !== incarnation || !cluster.configuration.learners.includes(slot.id);
}

async function claim(replica: AnsweringReplica, request: JoinRequest, deadlineMs: number): Promise<JoinAnswer> {
  const { name, incarnation, endpoints } = request;
  const operation = {
    kind: "claim-slot",
    name,
    incarnation: Buffer.from(incarnation, "hex"),
    address: endpoints,
  } as const;
  const outcome = await new Promise<Outcome | null>((resolve) => {
    replica.proposeClusterOperation(operation, deadlineMs, (_error, applied) => resolve(applied));
  });
  if (outcome === null || outcome.answer instanceof CoordinationError) {
    return { result: "TRY_LATER" };
  }
  invariant(outcome.answer.kind === "claim-slot", "a claim is answered as a claim");
  const { verdict, memberId } = outcome.answer;
  switch (verdict) {
    case "accepted":
      return accepted(replica, memberId);
    case "no-slot":
      return { result: "NO_SLOT" };
    case "slot-taken":
      return { result: "SLOT_TAKEN", memberId };
  }
}

function accepted(replica: AnsweringReplica, memberId: number): JoinAnswer {
  const cluster = readCluster(replica.state);
  invariant(cluster !== undefined, "a cluster stays founded");
  return {
    result: "ACCEPTED",
    clusterId: cluster.clusterId,
    memberId,
    directory: claimedMembers(cluster),
    index: replica.status().appliedIndex,
  };
}

/** Whether a read barrier confirms that the applied state is current. */
function isCurrent(replica: AnsweringReplica, deadlineMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    replica.readBarrier(deadlineMs, (error) => resolve(error === null));
  });
}

function slotNamed(cluster: Cluster, name: string): ClusterMember | undefined {
  return cluster.members.find((member) => member.name === name);
}
