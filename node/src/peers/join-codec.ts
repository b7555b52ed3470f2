/**
 * Joining: a process without data asks a member of the cluster for the slot of its name. A process that already has its
 * slot asks for the other members, until it has learned them from the log.
 *
 * The question is the first frame of its own connection, and the only one besides its answer. The log decides whether
 * the process gets the slot; this file only encodes question and answer. The acceptor checks the join token before it
 * looks at the question.
 */

import { type PeerIdentity, PROTOCOL_VERSIONS, type VersionRange } from "./hello.ts";
import {
  count,
  encodeJson,
  incarnation,
  jsonReader,
  list,
  memberId,
  object,
  objectBy,
  oneOf,
  text,
  uuid,
  versionRange,
} from "./json-body.ts";

export interface JoinRequest {
  readonly clusterName: string;
  /** UUID in text form; null if the process does not know its cluster. */
  readonly clusterId: string | null;
  /** The id that the process received with its slot; 0 if its data directory is empty. */
  readonly memberId: number;
  /** The name of the slot. */
  readonly name: string;
  /** 32 lower-case hexadecimal digits, generated with the data directory. */
  readonly incarnation: string;
  readonly endpoints: Endpoints;
  /** Cluster versions that the process can run. */
  readonly versions: VersionRange;
}

/** The addresses of a process, each as host:port. */
export interface Endpoints {
  /** Other members dial this one. */
  readonly peerEndpoint: string;
  readonly grpcEndpoint: string;
  readonly httpEndpoint: string;
}

/** A current member and its address. */
export interface PeerMember extends PeerIdentity {
  /** host:port; an IPv6 address is in brackets. */
  readonly address: string;
}

/** The cluster that took over the state of another one, and when. */
export interface SuccessorCluster {
  readonly clusterId: string;
  /** Wall clock in milliseconds. */
  readonly sinceMs: number;
}

export type JoinAnswer =
  | {
      readonly result: "ACCEPTED";
      readonly clusterId: string;
      readonly memberId: number;
      /** Members whose slots are claimed, as of the entry of this index. */
      readonly directory: readonly PeerMember[];
      readonly index: number;
    }
  /** No slot has the name: an administrator must add one first. */
  | { readonly result: "NO_SLOT" }
  /** The slot belongs to another data directory, with this member id. */
  | { readonly result: "SLOT_TAKEN"; readonly memberId: number }
  /** Contains the successor if the process belongs to a cluster whose state this one has taken over. */
  | { readonly result: "WRONG_CLUSTER"; readonly successor?: SuccessorCluster }
  | { readonly result: "VERSION" }
  /** The slot of the process was removed in the meantime. */
  | { readonly result: "REMOVED" }
  /** The asked process itself does not belong to a cluster. */
  | { readonly result: "NO_CLUSTER" }
  /** No answer is available now, for example without a leader. */
  | { readonly result: "TRY_LATER" };

/** A question as received from a connection: with the token, and the protocol of the asking process. */
export interface ReceivedJoin {
  readonly request: JoinRequest;
  readonly protocol: VersionRange;
  readonly joinToken: string;
}

const MAGIC = "quoin-join";
const readJoin = jsonReader(
  "a join request",
  object({
    magic: oneOf(MAGIC),
    protocol: versionRange,
    joinToken: text,
    clusterName: text,
    clusterId: text.nullable(),
    memberId: count,
    name: text,
    incarnation,
    endpoints: object({ peerEndpoint: text, grpcEndpoint: text, httpEndpoint: text }),
    versions: versionRange,
  }),
);
const directory = list(object({ memberId, incarnation, address: text })).refine(
  (members) => new Set(members.map((member) => member.memberId)).size === members.length,
  { error: "names a member twice" },
);
const readJoinAnswer = jsonReader(
  "a join answer",
  objectBy("result", [
    // The cluster id becomes the id of the data directory, so it is checked as strictly as there.
    object({ result: oneOf("ACCEPTED"), clusterId: uuid, memberId, directory, index: count }),
    object({ result: oneOf("SLOT_TAKEN"), memberId }),
    object({
      result: oneOf("WRONG_CLUSTER"),
      successor: object({ clusterId: uuid, sinceMs: count }).exactOptional(),
    }),
    object({ result: oneOf("NO_SLOT", "VERSION", "REMOVED", "NO_CLUSTER", "TRY_LATER") }),
  ]),
);

export function encodeJoin(request: JoinRequest, joinToken: string): Uint8Array {
  return encodeJson({ magic: MAGIC, protocol: PROTOCOL_VERSIONS, joinToken, ...request });
}

/** Raises a FrameError unless the body is a whole question. */
export function decodeJoin(body: Uint8Array): ReceivedJoin {
  const { magic: _, protocol, joinToken, ...request } = readJoin(body);
  return { request, protocol, joinToken };
}

export function encodeJoinAnswer(answer: JoinAnswer): Uint8Array {
  return encodeJson(answer);
}

/** Raises a FrameError unless the body is a whole answer. */
export function decodeJoinAnswer(body: Uint8Array): JoinAnswer {
  return readJoinAnswer(body);
}
