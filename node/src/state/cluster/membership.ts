/**
 * Membership: slots, claims, promotions and removals, as entries of the log.
 *
 * An administrator adds a slot by name. The member's id is the index of that entry, so no id is ever reused. The new
 * process claims the slot with the incarnation of its data directory. A claim is final: a later process with another
 * directory is refused (P46, P61). Voters change by reconfigurations, which are checked when proposed and again here,
 * in log order. The API checks administrators; their rights do not depend on any replicated record.
 */

import { equalBytes } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import { type ChangeRefusal, type Configuration, members as membersOf, type ProposedChange } from "../../raft/index.ts";
import {
  type ApplyContext,
  answerForm,
  badField,
  type Cluster,
  type ClusterMember,
  CoordinationError,
  clusterOperation,
  clusterStep,
  count,
  fixedBytes,
  INCARNATION_BYTES,
  type MemberAddress,
  memberAddress,
  oneOf,
  optionalRequest,
  type Reconfigure,
  RecordReader,
  RecordWriter,
  type RequestIdentity,
  readCluster,
  text,
  writeCluster,
} from "../core/index.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly membership: MembershipResult;
    readonly "claim-slot": ClaimSlotResult;
  }
}

/** The result of a membership entry. */
export interface MembershipResult {
  readonly kind: "membership";
  readonly revision: number;
  /** Index of the configuration that is in force with this entry. */
  readonly configIndex: number;
  /** Id of the added slot; else 0. */
  readonly memberId: number;
}

/** The result of a claim: no-slot and slot-taken are answers, not refusals, because the process claims again. */
export interface ClaimSlotResult {
  readonly kind: "claim-slot";
  readonly revision: number;
  readonly verdict: "accepted" | "no-slot" | "slot-taken";
  /** Id of the slot; 0 if there is none. */
  readonly memberId: number;
}

/** An entry that changes the configuration at the request of an administrator. */
export interface MembershipEntry {
  /** The caller, under whom the answer is stored. */
  readonly subject: string;
  /** Identifies retries; null for a call without a request id. */
  readonly request: RequestIdentity | null;
  /** Index of the last applied configuration entry that the caller knows; 0 = any. */
  readonly expectIndex: number;
  readonly operation: MembershipOperation;
}

export type MembershipOperation =
  | { readonly kind: "add-slot"; readonly name: string }
  | {
      readonly kind: "reconfigure";
      readonly promote: readonly number[];
      readonly demote: readonly number[];
      readonly remove: readonly number[];
    };

/** A process claims the slot of its name. */
export interface ClaimSlot {
  readonly kind: "claim-slot";
  readonly name: string;
  /** 16 bytes. */
  readonly incarnation: Uint8Array;
  readonly address: MemberAddress;
}

/** A member has a new address. */
export interface UpdateMember {
  readonly kind: "update-member";
  readonly id: number;
  readonly incarnation: Uint8Array;
  readonly address: MemberAddress;
}

/** The most slots of a cluster, voters and learners together. */
export const SLOTS_MAX = 16;

const FORMAT = 1;
const KINDS = { "add-slot": 1, reconfigure: 2 } as const;
const NO_INCARNATION = new Uint8Array(0);
const NO_ADDRESS: MemberAddress = { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" };

export function encodeMembershipEntry(entry: MembershipEntry): Uint8Array {
  const { subject, request, expectIndex, operation } = entry;
  const writer = new RecordWriter().uint8(FORMAT).text(subject);
  optionalRequest.write(writer, request);
  writer.uint53(expectIndex).uint8(KINDS[operation.kind]);
  if (operation.kind === "add-slot") {
    return writer.text(operation.name).finish();
  }
  for (const ids of [operation.promote, operation.demote, operation.remove]) {
    writer.uint32(ids.length);
    for (const id of ids) {
      writer.uint53(id);
    }
  }
  return writer.finish();
}

export function decodeMembershipEntry(bytes: Uint8Array): MembershipEntry {
  const reader = new RecordReader(bytes);
  const format = reader.uint8();
  invariant(format === FORMAT, "membership entries have a known format", () => String(format));
  const subject = reader.text();
  const request = optionalRequest.read(reader);
  const expectIndex = reader.uint53();
  const operation = readOperation(reader);
  reader.end();
  return { subject, request, expectIndex, operation };
}

/** The change of the configuration that the operation proposes to the consensus core. */
export function changeOf(operation: MembershipOperation): ProposedChange {
  return operation.kind === "add-slot" ? { type: "add-slot" } : { ...operation, type: "reconfigure" };
}

/** Applies the entry if its preconditions still hold. Raises the refusal otherwise. */
export function applyMembership(
  context: ApplyContext,
  entry: MembershipEntry,
  reconfigure: Reconfigure,
): MembershipResult {
  const cluster = requireCluster(context);
  const { operation, expectIndex } = entry;
  if (operation.kind === "add-slot") {
    requireFreeName(cluster, operation.name);
  } else {
    requireMembers(cluster, operation.remove);
  }
  const configuration = reconfigure(context.index, changeOf(operation), expectIndex);
  if (typeof configuration === "string") {
    throw refusalOfChange(configuration, cluster);
  }
  const isAdded = operation.kind === "add-slot";
  const added = isAdded
    ? [{ id: context.index, name: operation.name, incarnation: NO_INCARNATION, address: NO_ADDRESS }]
    : [];
  writeCluster(context.transaction, {
    ...cluster,
    configuration,
    members: present([...cluster.members, ...added], configuration),
  });
  return {
    kind: "membership",
    revision: context.revision,
    configIndex: configuration.index,
    memberId: isAdded ? context.index : 0,
  };
}

/** Ends a joint configuration. */
export function applyLeave(context: ApplyContext, reconfigure: Reconfigure): void {
  const cluster = requireCluster(context);
  const configuration = reconfigure(context.index, { type: "leave" }, 0);
  invariant(typeof configuration !== "string", "a joint configuration can always be left", () => String(configuration));
  writeCluster(context.transaction, { ...cluster, configuration, members: present(cluster.members, configuration) });
}

/** The members of the configuration: in a joint one, an outgoing voter is a member until the joint one ends. */
function present(members: readonly ClusterMember[], configuration: Configuration): ClusterMember[] {
  const ids = membersOf(configuration);
  return members.filter(({ id }) => ids.includes(id));
}

export const claimSlotOperation = clusterOperation<ClaimSlot, ClaimSlotResult>({
  kind: "claim-slot",
  number: 8,
  fields: { name: text, incarnation: fixedBytes(INCARNATION_BYTES), address: memberAddress },
  answer: {
    number: 6,
    fields: { verdict: oneOf(["accepted", "no-slot", "slot-taken"], "claims have a known verdict"), memberId: count },
  },
  apply: applyClaimSlot,
});

export const updateMemberOperation = clusterStep<UpdateMember>({
  kind: "update-member",
  number: 9,
  fields: { id: count, incarnation: fixedBytes(INCARNATION_BYTES), address: memberAddress },
  apply: applyUpdateMember,
});

/** The stored form of the result of a membership entry, which is no command. */
export const MEMBERSHIP_ANSWER = answerForm<MembershipResult>("membership", {
  number: 5,
  fields: { configIndex: count, memberId: count },
});

/** Gives the slot of this name to the first data directory that claims it, and to the same one again. */
function applyClaimSlot(context: ApplyContext, claim: ClaimSlot): ClaimSlotResult {
  const { revision } = context;
  const cluster = requireCluster(context);
  const slot = cluster.members.find(({ name }) => name === claim.name);
  if (slot === undefined) {
    return { kind: "claim-slot", revision, verdict: "no-slot", memberId: 0 };
  }
  const memberId = slot.id;
  if (slot.incarnation.length === 0) {
    const claimed = { ...slot, incarnation: claim.incarnation, address: claim.address };
    replaceMember(context, cluster, claimed);
    return { kind: "claim-slot", revision, verdict: "accepted", memberId };
  }
  // A voter has acknowledged entries, so a directory that still claims a slot cannot be the voter's.
  const isOwn = equalBytes(slot.incarnation, claim.incarnation);
  const isLearner = cluster.configuration.learners.includes(memberId);
  return { kind: "claim-slot", revision, verdict: isOwn && isLearner ? "accepted" : "slot-taken", memberId };
}

/** Records the address of a member, if its incarnation is unchanged. */
function applyUpdateMember(context: ApplyContext, update: UpdateMember): void {
  const cluster = requireCluster(context);
  const member = cluster.members.find(({ id }) => id === update.id);
  if (member !== undefined && equalBytes(member.incarnation, update.incarnation)) {
    replaceMember(context, cluster, { ...member, address: update.address });
  }
}

/** A refusal of the consensus core as an error of the API. */
export function refusalOfChange(
  refusal: ChangeRefusal | "is-leader" | "learner-not-ready" | "quorum-unsafe",
  cluster: Cluster,
): CoordinationError {
  const { index } = cluster.configuration;
  switch (refusal) {
    case "config-changed":
      return new CoordinationError(
        "CONFIG_CHANGED",
        `the configuration has moved on; it is that of index ${index} now`,
        {
          details: new Map([["config_index", String(index)]]),
        },
      );
    case "change-in-progress":
      return new CoordinationError("CONFIG_CHANGE_IN_PROGRESS", "another change of the configuration is under way");
    case "last-voter":
      return new CoordinationError("LAST_VOTER", "the last voter cannot be removed");
    case "unknown-member":
      return new CoordinationError("MEMBER_NOT_FOUND", "one of the ids is not that of a member");
    case "contradictory":
      return badField("ids", "must not name a member twice");
    case "not-founded":
      return new CoordinationError("NO_LEADER", "the cluster is not founded");
    case "is-leader":
      return new CoordinationError("IS_LEADER", "the leader cannot be removed; transfer the leadership first");
    case "learner-not-ready":
      return new CoordinationError("LEARNER_NOT_READY", "a member that is to be promoted has not caught up");
    case "quorum-unsafe":
      return new CoordinationError("QUORUM_UNSAFE", "the new voters would have no majority that is in contact and fit");
  }
}

function requireFreeName(cluster: Cluster, name: string): void {
  if (cluster.members.some((member) => member.name === name)) {
    throw new CoordinationError("MEMBER_EXISTS", `a member named "${name}" exists already`);
  }
  if (cluster.members.length >= SLOTS_MAX) {
    throw new CoordinationError("QUOTA", `a cluster has at most ${SLOTS_MAX} members; remove one first`);
  }
}

/**
 * The consensus core ignores the removal of an unknown member; here it is refused, because the caller may have mistyped
 * the id.
 */
function requireMembers(cluster: Cluster, ids: readonly number[]): void {
  if (!ids.every((id) => cluster.members.some((member) => member.id === id))) {
    throw refusalOfChange("unknown-member", cluster);
  }
}

function requireCluster(context: ApplyContext): Cluster {
  const cluster = readCluster(context.transaction);
  invariant(cluster !== undefined, "members are those of a founded cluster");
  return cluster;
}

function replaceMember(context: ApplyContext, cluster: Cluster, replaced: ClusterMember): void {
  invariant(replaced.incarnation.length === INCARNATION_BYTES, "incarnations have 16 bytes");
  const members = cluster.members.map((member) => (member.id === replaced.id ? replaced : member));
  writeCluster(context.transaction, { ...cluster, members });
}

function readOperation(reader: RecordReader): MembershipOperation {
  const kind = reader.uint8();
  if (kind === KINDS["add-slot"]) {
    return { kind: "add-slot", name: reader.text() };
  }
  invariant(kind === KINDS.reconfigure, "membership entries have a known kind", () => String(kind));
  return { kind: "reconfigure", promote: readIds(reader), demote: readIds(reader), remove: readIds(reader) };
}

function readIds(reader: RecordReader): number[] {
  const ids: number[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    ids.push(reader.uint53());
  }
  return ids;
}
