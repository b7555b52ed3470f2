/**
 * ClusterAdminService: the state of this member, the membership, the leadership, the change history, the settings, and
 * the keys that sign tokens. The caller must be an administrator of the whole cluster. Every member takes every call:
 * its driver forwards to the leader what only the leader knows or decides.
 */

import {
  AddMemberRequest,
  type AddMemberResponse,
  CompactRequest,
  type CompactResponse,
  type GetSettingsRequest,
  type GetSettingsResponse,
  type GetStatusRequest,
  type GetStatusResponse,
  type ListMembersRequest,
  type ListMembersResponse,
  MemberSlot,
  PromoteMembersRequest,
  type PromoteMembersResponse,
  PutSettingsRequest,
  type PutSettingsResponse,
  ReadConsistency,
  RemoveMembersRequest,
  type RemoveMembersResponse,
  RotateKeysRequest,
  type RotateKeysResponse,
  type TransferLeadershipRequest,
  type TransferLeadershipResponse,
} from "@quoin/proto";
import { generateSigningKey } from "../../access/index.ts";
import { invariant } from "../../primitives/index.ts";
import type { ProposalDone } from "../../replica/index.ts";
import {
  badRequestField,
  type Cluster,
  type ClusterOperation,
  type CompactHistoryResult,
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  describeSettings,
  type MembershipEntry,
  type MembershipResult,
  type PutSettingsResult,
  type RequiredAccess,
  type RotateSigningKeyResult,
  readCluster,
  readSettings,
  type StateReader,
} from "../../state/index.ts";
import { attempt, toError } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import { authorized, type Executor, noReplica, replyOutcome, storedAnswer } from "./executor.ts";
import {
  compactRevisionField,
  conditionField,
  memberIdsField,
  memberNameField,
  settingsField,
  targetIdField,
} from "./field-rules.ts";
import type { HostMember, HostReplica } from "./host.ts";
import { localKnowledge, memberIdText, memberSlot, memberStatus, membership } from "./member-messages.ts";
import { explainedRefusal } from "./membership-refusal.ts";
import { type RecognisedMethod, requestIdentity } from "./request-identity.ts";

/** The access level `admin`, and a list of namespaces that contains "*" itself. */
const NEED: RequiredAccess = { access: "admin", namespace: "*" };

const ADD_MEMBER: RecognisedMethod<AddMemberRequest> = { name: "AddMember", codec: AddMemberRequest };
const PROMOTE_MEMBERS: RecognisedMethod<PromoteMembersRequest> = {
  name: "PromoteMembers",
  codec: PromoteMembersRequest,
};
const REMOVE_MEMBERS: RecognisedMethod<RemoveMembersRequest> = { name: "RemoveMembers", codec: RemoveMembersRequest };
const COMPACT: RecognisedMethod<CompactRequest> = { name: "Compact", codec: CompactRequest };
const ROTATE_KEYS: RecognisedMethod<RotateKeysRequest> = { name: "RotateKeys", codec: RotateKeysRequest };
const PUT_SETTINGS: RecognisedMethod<PutSettingsRequest> = {
  name: "PutSettings",
  codec: PutSettingsRequest,
  inOrder: (request) => ({
    ...request,
    values: new Map([...request.values].sort(([one], [other]) => (one < other ? -1 : 1))),
  }),
};

/** What happens to the members that a request names. */
type Reconfiguration = { readonly promote: readonly number[] } | { readonly remove: readonly number[] };

export class ClusterAdminMethods {
  readonly #executor: Executor;
  readonly #member: HostMember;

  constructor(executor: Executor, member: HostMember) {
    this.#executor = executor;
    this.#member = member;
  }

  /** Answers without a quorum, in every state of the member. */
  getStatus(call: Call, _request: GetStatusRequest, reply: Reply<GetStatusResponse>): void {
    const answer = () =>
      reply(
        attempt(() => this.#status()),
        "no",
      );
    authorized(call, NEED, answer, reply);
  }

  /** Answers with the members of the cluster's record, which is at least as new as the leader's view of them. */
  listMembers(call: Call, _request: ListMembersRequest, reply: Reply<ListMembersResponse>): void {
    const { replica } = this.#member;
    if (replica === null) {
      reply(noReplica(), "no");
      return;
    }
    const ask = (): void => {
      replica.membershipView(call.deadlineMs, (error, view) => {
        if (view === null) {
          invariant(error !== null, "a missing view has an error");
          reply(error, "no");
          return;
        }
        const query = () => ({ consistency: ReadConsistency.LINEARIZABLE });
        this.#executor.read(call, NEED, query, ({ state }) => membership(requireCluster(state), view), reply);
      });
    };
    authorized(call, NEED, ask, reply);
  }

  getSettings(call: Call, _request: GetSettingsRequest, reply: Reply<GetSettingsResponse>): void {
    const query = () => ({ consistency: ReadConsistency.LINEARIZABLE });
    this.#executor.read(call, NEED, query, ({ state }) => settingsResponse(state), reply);
  }

  addMember(call: Call, request: AddMemberRequest, reply: Reply<AddMemberResponse>): void {
    const entry = (): MembershipEntry => {
      const name = memberNameField(request.name);
      return { ...entryHead(call, ADD_MEMBER, request), operation: { kind: "add-slot", name } };
    };
    const response = ({ memberId }: MembershipResult, cluster: Cluster): AddMemberResponse => {
      const added = cluster.members.find(({ id }) => id === memberId);
      // A retry may arrive after the member was removed again.
      const member =
        added === undefined
          ? MemberSlot.fromPartial({ id: String(memberId), name: request.name })
          : memberSlot(cluster, added);
      return { member, configIndex: BigInt(cluster.configuration.index) };
    };
    this.#change(call, entry, response, [], reply);
  }

  promoteMembers(call: Call, request: PromoteMembersRequest, reply: Reply<PromoteMembersResponse>): void {
    this.#reconfigure(call, PROMOTE_MEMBERS, request, (promote) => ({ promote }), reply);
  }

  removeMembers(call: Call, request: RemoveMembersRequest, reply: Reply<RemoveMembersResponse>): void {
    this.#reconfigure(call, REMOVE_MEMBERS, request, (remove) => ({ remove }), reply);
  }

  transferLeadership(call: Call, request: TransferLeadershipRequest, reply: Reply<TransferLeadershipResponse>): void {
    const prepare = () => {
      const targetId = targetIdField(request.targetId);
      return { targetId, ifTerm: requireRecognisable(call, "if_term", conditionField("if_term", request.ifTerm)) };
    };
    const proceed = (replica: HostReplica, { targetId, ifTerm }: ReturnType<typeof prepare>): void => {
      replica.transferLeadership(targetId, ifTerm, call.deadlineMs, (error, leader) => {
        if (leader === null) {
          invariant(error !== null, "a failed transfer has an error");
          reply(error, "no");
          return;
        }
        reply({ leaderId: memberIdText(leader.id), term: BigInt(leader.term) }, "no");
      });
    };
    this.#executor.administer(call, NEED, prepare, proceed, reply);
  }

  /** Idempotent, so it needs no request id. */
  compact(call: Call, request: CompactRequest, reply: Reply<CompactResponse>): void {
    const prepare = (): ClusterOperation => ({
      kind: "compact-history",
      revision: compactRevisionField(request.revision),
      ...requester(call, COMPACT, request),
    });
    const response = ({ compactRevision }: CompactHistoryResult): CompactResponse => ({
      compactRevision: BigInt(compactRevision),
    });
    const proceed = (replica: HostReplica, operation: ClusterOperation): void => {
      replica.proposeClusterOperation(operation, call.deadlineMs, (error, outcome) => {
        replyOutcome(error, outcome, "compact-history", response, reply);
      });
    };
    this.#executor.administer(call, NEED, prepare, proceed, reply);
  }

  putSettings(call: Call, request: PutSettingsRequest, reply: Reply<PutSettingsResponse>): void {
    const prepare = (): ClusterOperation => {
      const ifRevision = conditionField("if_settings_revision", request.ifSettingsRevision);
      return {
        kind: "put-settings",
        values: settingsField(request.values),
        ifRevision: requireRecognisable(call, "if_settings_revision", ifRevision),
        ...requester(call, PUT_SETTINGS, request),
      };
    };
    const response = ({ settingsRevision }: PutSettingsResult): PutSettingsResponse => ({
      settingsRevision: BigInt(settingsRevision),
    });
    const proceed = (replica: HostReplica, operation: ClusterOperation): void => {
      replica.proposeClusterOperation(operation, call.deadlineMs, (error, outcome) => {
        replyOutcome(error, outcome, "put-settings", response, reply);
      });
    };
    this.#executor.administer(call, NEED, prepare, proceed, reply);
  }

  /** From now on, members sign tokens with a new key. Tokens that were signed before stay valid until they expire. */
  rotateKeys(call: Call, request: RotateKeysRequest, reply: Reply<RotateKeysResponse>): void {
    const response = ({ kid }: RotateSigningKeyResult): RotateKeysResponse => ({ kid });
    const propose = (replica: HostReplica, key: Awaited<ReturnType<typeof generateSigningKey>>): void => {
      const operation = {
        kind: "rotate-signing-key",
        ...key,
        ifKid: "",
        ...requester(call, ROTATE_KEYS, request),
      } as const;
      replica.proposeClusterOperation(operation, call.deadlineMs, (error, outcome) => {
        replyOutcome(error, outcome, "rotate-signing-key", response, reply);
      });
    };
    const prepare = (): void => {
      if (!call.hasRequestId) {
        throw new CoordinationError("BAD_METADATA", "the request-id is required, so that a retry rotates only once");
      }
    };
    const proceed = (replica: HostReplica): void => {
      generateSigningKey()
        .then((key) => propose(replica, key))
        .catch((error: unknown) => reply(toError(error), "no"));
    };
    this.#executor.administer(call, NEED, prepare, proceed, reply);
  }

  #reconfigure<Request extends { readonly ids: readonly string[]; readonly ifConfigIndex: bigint }>(
    call: Call,
    method: RecognisedMethod<Request>,
    request: Request,
    change: (ids: readonly number[]) => Reconfiguration,
    reply: Reply<{ configIndex: bigint }>,
  ): void {
    const entry = (): MembershipEntry => {
      const ids = memberIdsField(request.ids);
      const operation = { kind: "reconfigure", promote: [], demote: [], remove: [], ...change(ids) } as const;
      return { ...entryHead(call, method, request), operation };
    };
    const response = (_result: MembershipResult, { configuration }: Cluster) => ({
      configIndex: BigInt(configuration.index),
    });
    this.#change(call, entry, response, request.ids, reply);
  }

  /**
   * @param response makes the response from the record as it is after the change.
   * @param ids the members that the request names.
   */
  #change<Response>(
    call: Call,
    entry: () => MembershipEntry,
    response: (result: MembershipResult, cluster: Cluster) => Response,
    ids: readonly string[],
    reply: Reply<Response>,
  ): void {
    const proceed = (replica: HostReplica, proposed: MembershipEntry): void => {
      const replyExplained: Reply<Response> = (answer, replayed) => {
        const isFresh = answer instanceof CoordinationError && replayed === "no";
        reply(isFresh ? attempt(() => explainedRefusal(answer, ids, requireCluster(replica.state))) : answer, replayed);
      };
      const done: ProposalDone = (error, outcome) => {
        const make = (result: MembershipResult) => response(result, requireCluster(replica.state));
        replyOutcome(error, outcome, "membership", make, replyExplained);
      };
      const stored = storedAnswer(replica, proposed.subject, proposed.request);
      if (stored === null) {
        replica.proposeMembership(proposed, call.deadlineMs, done);
      } else {
        done(null, stored);
      }
    };
    this.#executor.administer(call, NEED, entry, proceed, reply);
  }

  #status(): GetStatusResponse {
    const { replica } = this.#member;
    const consensus = replica?.status();
    const cluster = replica === null ? undefined : readCluster(replica.state);
    const isKnown = cluster !== undefined && consensus !== undefined;
    return {
      status: memberStatus(this.#member, consensus, replica === null ? 0 : readSettings(replica.state).revision),
      known: isKnown ? membership(cluster, localKnowledge(consensus)) : undefined,
    };
  }
}

function settingsResponse(state: StateReader): GetSettingsResponse {
  return {
    settings: describeSettings(state, DEFAULT_STATE_LIMITS).map(({ name, value, whenUnset, min, max }) => ({
      name,
      value: value === null ? "" : String(value),
      defaultValue: whenUnset === null ? "" : String(whenUnset),
      min: BigInt(min),
      max: BigInt(max),
    })),
    settingsRevision: BigInt(readSettings(state).revision),
  };
}

function requireCluster(state: StateReader): Cluster {
  const cluster = readCluster(state);
  invariant(cluster !== undefined, "a replica that passes a read barrier belongs to a founded cluster");
  return cluster;
}

/** The caller, and the identity by which a retry is recognised. */
function requester<Request>(
  call: Call,
  method: RecognisedMethod<Request>,
  request: Request,
): Pick<MembershipEntry, "subject" | "request"> {
  return { subject: call.principal.subject, request: requestIdentity(call, method, request) };
}

/** The caller, the identity of the request, and its condition. */
function entryHead<Request extends { readonly ifConfigIndex: bigint }>(
  call: Call,
  method: RecognisedMethod<Request>,
  request: Request,
): Omit<MembershipEntry, "operation"> {
  const expectIndex = conditionField("if_config_index", request.ifConfigIndex);
  return {
    ...requester(call, method, request),
    expectIndex: requireRecognisable(call, "if_config_index", expectIndex),
  };
}

/** A mutation must be safe to repeat: its request id identifies a retry, or its condition makes a retry fail. */
function requireRecognisable(call: Call, field: string, condition: number): number {
  if (condition === 0 && !call.hasRequestId) {
    throw badRequestField(field, "must not be 0 in a call without a request-id; a retry could be executed twice");
  }
  return condition;
}
