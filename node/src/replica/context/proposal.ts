/**
 * A command that is to be logged, with what this member must know about it until its outcome is known. Its payload is
 * encoded once, here.
 */

import { hash } from "node:crypto";
import { EntryType } from "../../raft/index.ts";
import {
  type ClientRequest,
  type ClusterOperation,
  type CoordinationError,
  encodeCommand,
  encodeMembershipEntry,
  encodeRequest,
  extraRowsOf,
  type MembershipEntry,
  type Outcome,
  type Principal,
  type RequestIdentity,
  type StateReader,
} from "../../state/index.ts";

export type ProposalDone = (error: CoordinationError | null, outcome: Outcome | null) => void;

/** A command that is to be logged. */
export interface Proposal {
  readonly type: EntryType;
  readonly payload: Uint8Array;
  /** The work of all members for it, as the number of bytes of a large value that takes as long. */
  readonly work: number;
  /** Who asks, for fair turns; empty = the cluster itself, a member, or an administrator. */
  readonly subject: string;
  /** The key under which its answer is stored when it is executed; null if no answer is stored. */
  readonly stored: StoredUnder | null;
  /** The client and its operation; only for requests of clients. */
  readonly asking?: Pick<ClientRequest, "principal" | "operation">;
  /** Only for requests for a lock: the client and the request. The request is undone when its caller is gone. */
  readonly acquisition?: { readonly principal: Principal; readonly request: RequestIdentity };
  /** Whether it may wait for as long as others hold the lock. */
  readonly mayQueue?: boolean;
}

/** Work of a command with one row: a tenth of a millisecond. */
const COMMAND_WORK = 2_048;
/** Work of each row beyond that. */
const ROW_WORK = 256;

/**
 * The proposal for a client's request.
 *
 * @param state shows how much work it will probably be.
 */
export function proposalOf(asked: ClientRequest, state: StateReader): Proposal {
  const { principal, operation } = asked;
  const { subject } = principal;
  const rows = extraRowsOf(state, operation);
  const { payload, request } = encodeRequest(asked, sha256);
  const work = workOf(payload, rows);
  if (request === null) {
    return { type: EntryType.Command, payload, work, subject, stored: null };
  }
  const stored = { subject, request };
  const proposal = { type: EntryType.Command, payload, work, subject, stored, asking: asked };
  // Renewing a hold, or changing its mode, adds no hold that would have to be released.
  const acquires = operation.kind === "acquire-lock" && operation.fencingToken === 0;
  return acquires ? { ...proposal, acquisition: { principal, request }, mayQueue: operation.waitMs > 0 } : proposal;
}

/** The identity by which a retry of the request is recognised; null without a request id. */
export function requestIdentityOf(asked: ClientRequest): RequestIdentity | null {
  return encodeRequest(asked, sha256).request;
}

function workOf(payload: Uint8Array, rows: number): number {
  return payload.length + COMMAND_WORK + rows * ROW_WORK;
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash("sha256", bytes, "buffer");
}

/** The proposal for an operation of the cluster itself or of an administrator. */
export function clusterProposalOf(operation: ClusterOperation): Proposal {
  const payload = encodeCommand({ principal: null, request: null, operation });
  const isRecognisable = "request" in operation && operation.request !== null;
  const stored = isRecognisable ? { subject: operation.subject, request: operation.request } : null;
  return { type: EntryType.Command, payload, work: workOf(payload, 0), subject: "", stored };
}

/** The proposal for a change of the membership. */
export function membershipProposalOf(entry: MembershipEntry): Proposal {
  const { subject, request, operation } = entry;
  const type = operation.kind === "add-slot" ? EntryType.AddSlot : EntryType.Reconfigure;
  const stored = request === null ? null : { subject, request };
  const payload = encodeMembershipEntry(entry);
  return { type, payload, work: workOf(payload, 0), subject: "", stored };
}

export interface StoredUnder {
  readonly subject: string;
  readonly request: RequestIdentity;
}
