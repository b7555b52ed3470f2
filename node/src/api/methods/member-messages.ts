/** Messages about members: the status of this member, and the membership. The functions only format their arguments. */

import { type ListMembersResponse, MemberRole, type MemberSlot, MemberState, type MemberStatus } from "@quoin/proto";
import { isJoint } from "../../raft/index.ts";
import type { MemberHealth, ReplicaStatus } from "../../replica/index.ts";
import type { Cluster, ClusterMember } from "../../state/index.ts";
import type { HostMember } from "./host.ts";

/** What the leader of a term knows about the members. Any other member knows less. */
export interface MembershipKnowledge {
  readonly term: number;
  readonly leaderId: number;
  readonly commitIndex: number;
  readonly changing: boolean;
  readonly health: readonly MemberHealth[];
}

/** The oldest release that can read the data of this one. Raise it with every change of a stored format. */
const DOWNGRADE_FLOOR = "0.2.0";

const ROLES = {
  leader: MemberRole.LEADER,
  follower: MemberRole.FOLLOWER,
  candidate: MemberRole.CANDIDATE,
} as const;

/** What this member knows without the leader: nothing about the health of other members. */
export function localKnowledge(status: ReplicaStatus): MembershipKnowledge {
  return { ...status, changing: false, health: [] };
}

/** The status of the member; `consensus` is undefined while it does not serve. */
export function memberStatus(
  member: HostMember,
  consensus: ReplicaStatus | undefined,
  settingsRevision: number,
): MemberStatus {
  const reasons = member.reason === "" ? [] : [member.reason];
  return {
    id: memberIdText(member.memberId),
    name: member.name,
    state: MemberState[member.state],
    stateForMs: BigInt(member.stateForMs),
    role: consensus === undefined ? MemberRole.MEMBER_ROLE_UNSPECIFIED : roleOf(consensus),
    term: BigInt(consensus?.term ?? 0),
    leaderId: memberIdText(consensus?.leaderId ?? 0),
    commitIndex: BigInt(consensus?.commitIndex ?? 0),
    appliedIndex: BigInt(consensus?.appliedIndex ?? 0),
    firstIndex: BigInt(consensus?.firstIndex ?? 0),
    lastIndex: BigInt(consensus?.lastIndex ?? 0),
    revision: BigInt(consensus?.revision ?? 0),
    dbSizeBytes: BigInt(member.dbSizeBytes),
    diskFreeBytes: BigInt(member.diskFreeBytes),
    version: member.version,
    downgradeFloor: downgradeFloorOf(member.version),
    uptimeMs: BigInt(member.uptimeMs),
    incarnation: member.incarnation,
    clusterId: member.clusterId,
    alarms: [...(consensus?.alarms ?? []), ...member.alarms, ...reasons],
    stateHash: consensus === undefined ? "" : consensus.digest.toString(16).padStart(8, "0"),
    stateHashIndex: BigInt(consensus?.appliedIndex ?? 0),
    certificateSerial: member.certificate?.serial ?? "",
    trustedCas: [...(member.certificate?.trustedCas ?? [])],
    settingsRevision: BigInt(settingsRevision),
    lastTerm: BigInt(consensus?.lastTerm ?? 0),
    foundedFrom: member.foundedFrom,
    clockMs: BigInt(member.clockMs),
  };
}

/** A build from before that release has a lower number, and reads its own data. */
export function downgradeFloorOf(version: string): string {
  return version.localeCompare(DOWNGRADE_FLOOR, "en", { numeric: true }) < 0 ? version : DOWNGRADE_FLOOR;
}

/** The members of the cluster's record, with their health as far as it is known. */
export function membership(cluster: Cluster, knowledge: MembershipKnowledge): ListMembersResponse {
  const { configuration } = cluster;
  const health = new Map(knowledge.health.map((known) => [known.id, known]));
  return {
    clusterId: cluster.clusterId,
    term: BigInt(knowledge.term),
    configIndex: BigInt(configuration.index),
    commitIndex: BigInt(knowledge.commitIndex),
    changing: knowledge.changing || isJoint(configuration),
    leaderId: memberIdText(knowledge.leaderId),
    members: cluster.members.map((member) => memberSlot(cluster, member, health.get(member.id))),
  };
}

/** One member of the cluster's record; without `health` its lag and contact age are 0. */
export function memberSlot(cluster: Cluster, member: ClusterMember, health?: MemberHealth): MemberSlot {
  const { id, name, address, incarnation } = member;
  return {
    id: String(id),
    name,
    ...address,
    voter: cluster.configuration.voters.includes(id),
    incarnation: incarnation.toHex(),
    lagMs: wholeMs(health?.lagMs),
    contactAgeMs: wholeMs(health?.contactAgeMs),
    promotable: health?.promotable ?? false,
  };
}

/** Member ids are text on the wire; the empty text means no member. */
export function memberIdText(id: number): string {
  return id === 0 ? "" : String(id);
}

/** A candidate or a leader has a vote; a follower may be a learner. */
export function roleOf({ role, isLearner }: Pick<ReplicaStatus, "role" | "isLearner">): MemberRole {
  return role === "follower" && isLearner ? MemberRole.LEARNER : ROLES[role];
}

function wholeMs(milliseconds = 0): bigint {
  return BigInt(Math.round(milliseconds));
}
