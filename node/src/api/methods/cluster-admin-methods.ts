/** ClusterAdminService: the state of this member, and the membership. Needs an administrator of the whole cluster. */

import {
  type GetStatusRequest,
  type GetStatusResponse,
  type ListMembersRequest,
  type ListMembersResponse,
  MemberRole,
  MemberState,
  type MemberStatus,
  ReadConsistency,
} from "@quoin/proto";
import { invariant } from "../../raft/index.ts";
import type { ReplicaStatus } from "../../replica/index.ts";
import { type Cluster, type Need, readCluster } from "../../state/index.ts";
import { attempt } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import { authorized, type Executor } from "./executor.ts";
import type { HostMember, HostReplica } from "./host.ts";

/** The access level `admin`, and a list of namespaces that holds "*" itself. */
const NEED: Need = { access: "admin", namespace: "*" };

/** The oldest release that can read what this one writes; to be raised with every change of a stored format. */
const DOWNGRADE_FLOOR = "0.1.0";

const ROLES = {
  leader: MemberRole.LEADER,
  follower: MemberRole.FOLLOWER,
  candidate: MemberRole.CANDIDATE,
} as const;

export class ClusterAdminMethods {
  readonly #executor: Executor;
  readonly #member: HostMember;

  constructor(executor: Executor, member: HostMember) {
    this.#executor = executor;
    this.#member = member;
  }

  /** Local, without a quorum, in every state of the member. */
  getStatus(call: Call, _request: GetStatusRequest, reply: Reply<GetStatusResponse>): void {
    authorized(
      call,
      NEED,
      () =>
        reply(
          attempt(() => this.#status()),
          "no",
        ),
      reply,
    );
  }

  listMembers(call: Call, _request: ListMembersRequest, reply: Reply<ListMembersResponse>): void {
    const query = () => ({ consistency: ReadConsistency.LINEARIZABLE });
    this.#executor.read(call, NEED, query, (replica) => membership(requireCluster(replica), replica.status()), reply);
  }

  #status(): GetStatusResponse {
    const member = this.#member;
    const { replica } = member;
    const consensus = replica?.status();
    const cluster = replica === null ? undefined : readCluster(replica.state);
    const status: MemberStatus = {
      id: idText(member.memberId),
      name: member.name,
      state: MemberState[member.state],
      stateForMs: BigInt(member.stateForMs),
      role: consensus === undefined ? MemberRole.MEMBER_ROLE_UNSPECIFIED : ROLES[consensus.role],
      term: BigInt(consensus?.term ?? 0),
      leaderId: idText(consensus?.leaderId ?? 0),
      commitIndex: BigInt(consensus?.commitIndex ?? 0),
      appliedIndex: BigInt(consensus?.appliedIndex ?? 0),
      firstIndex: BigInt(consensus?.firstIndex ?? 0),
      lastIndex: BigInt(consensus?.lastIndex ?? 0),
      revision: BigInt(consensus?.revision ?? 0),
      dbSizeBytes: BigInt(member.dbSizeBytes),
      diskFreeBytes: BigInt(member.diskFreeBytes),
      version: member.version,
      downgradeFloor: DOWNGRADE_FLOOR,
      uptimeMs: BigInt(member.uptimeMs),
      incarnation: member.incarnation,
      clusterId: member.clusterId,
      alarms: member.reason === "" ? [] : [member.reason],
      stateHash: consensus === undefined ? "" : consensus.digest.toString(16).padStart(8, "0"),
      stateHashIndex: BigInt(consensus?.appliedIndex ?? 0),
      certificateSerial: "",
      trustedCas: [],
      settingsRevision: 0n,
    };
    const known = cluster === undefined || consensus === undefined ? undefined : membership(cluster, consensus);
    return { status, known };
  }
}

function requireCluster(replica: HostReplica): Cluster {
  const cluster = readCluster(replica.state);
  invariant(cluster !== undefined, "a replica that passes a read barrier is of a founded cluster");
  return cluster;
}

function membership(cluster: Cluster, consensus: ReplicaStatus): ListMembersResponse {
  const { configuration } = cluster;
  return {
    clusterId: cluster.clusterId,
    term: BigInt(consensus.term),
    configIndex: BigInt(configuration.index),
    commitIndex: BigInt(consensus.commitIndex),
    changing: false,
    leaderId: idText(consensus.leaderId),
    members: cluster.members.map(({ id, name, address, incarnation }) => ({
      id: String(id),
      name,
      peerEndpoint: address.peerEndpoint,
      grpcEndpoint: address.grpcEndpoint,
      httpEndpoint: address.httpEndpoint,
      voter: configuration.voters.includes(id),
      incarnation: incarnation.toHex(),
      // A sole member has nobody to lag behind and is always in contact with itself.
      lagMs: 0n,
      contactAgeMs: 0n,
      promotable: false,
    })),
  };
}

/** Ids on the wire are texts; that nobody is named is the empty one. */
function idText(id: number): string {
  return id === 0 ? "" : String(id);
}
