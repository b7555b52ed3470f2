/**
 * Joining: a process without data asks a member of the cluster for the slot of its name.
 *
 * It is the first frame of a connection of its own, and the only one, besides its answer. Whether a slot is given is
 * decided by the log; this file only says how question and answer look. The join token is compared before the question
 * is looked at.
 */

import { FrameError } from "./frame.ts";
import { type PeerIdentity, PROTOCOL_VERSIONS, readVersions, type VersionRange } from "./hello.ts";
import { encodeJson, JsonFields } from "./json-fields.ts";

export interface JoinRequest {
  readonly clusterName: string;
  /** UUID in text form; null if the process was never told. */
  readonly clusterId: string | null;
  /** The name of the slot. */
  readonly name: string;
  /** 32 lower-case hexadecimal digits, minted with the data directory. */
  readonly incarnation: string;
  /** host:port at which other members will dial the process. */
  readonly address: string;
  /** Cluster versions that the process can run. */
  readonly versions: VersionRange;
}

/** A present member, and where to dial it. */
export interface PeerMember extends PeerIdentity {
  /** host:port; an IPv6 address is in brackets. */
  readonly address: string;
}

export type JoinAnswer =
  | {
      readonly result: "ACCEPTED";
      readonly clusterId: string;
      readonly memberId: number;
      /** Present members whose slots are claimed. */
      readonly directory: readonly PeerMember[];
    }
  /** No slot has the name: somebody must add it first. */
  | { readonly result: "NO_SLOT" }
  /** The slot belongs to another data directory, of this member id. */
  | { readonly result: "SLOT_TAKEN"; readonly memberId: number }
  | { readonly result: "WRONG_CLUSTER" }
  | { readonly result: "VERSION" }
  /** No answer can be had now, for example for want of a leader. */
  | { readonly result: "TRY_LATER" };

/** A question as it came from a connection: with the token, and the protocol that the asking process speaks. */
export interface ReceivedJoin {
  readonly request: JoinRequest;
  readonly protocol: VersionRange;
  readonly joinToken: string;
}

const MAGIC = "quoin-join";
const RESULTS = ["ACCEPTED", "NO_SLOT", "SLOT_TAKEN", "WRONG_CLUSTER", "VERSION", "TRY_LATER"] as const;

export function encodeJoin(request: JoinRequest, joinToken: string): Uint8Array {
  return encodeJson({ magic: MAGIC, protocol: PROTOCOL_VERSIONS, joinToken, ...request });
}

/** Raises a FrameError unless the body is a whole question. */
export function decodeJoin(body: Uint8Array): ReceivedJoin {
  const fields = JsonFields.of(body);
  fields.oneOf("magic", [MAGIC]);
  return {
    request: {
      clusterName: fields.text("clusterName"),
      clusterId: fields.isNull("clusterId") ? null : fields.text("clusterId"),
      name: fields.text("name"),
      incarnation: fields.incarnation("incarnation"),
      address: fields.text("address"),
      versions: readVersions(fields.part("versions")),
    },
    protocol: readVersions(fields.part("protocol")),
    joinToken: fields.text("joinToken"),
  };
}

export function encodeJoinAnswer(answer: JoinAnswer): Uint8Array {
  return encodeJson(answer);
}

/** Raises a FrameError unless the body is a whole answer. */
export function decodeJoinAnswer(body: Uint8Array): JoinAnswer {
  const fields = JsonFields.of(body);
  const result = fields.oneOf("result", RESULTS);
  switch (result) {
    case "ACCEPTED":
      return {
        result,
        clusterId: fields.text("clusterId"),
        memberId: fields.memberId("memberId"),
        directory: readDirectory(fields),
      };
    case "SLOT_TAKEN":
      return { result, memberId: fields.memberId("memberId") };
    default:
      return { result };
  }
}

function readDirectory(fields: JsonFields): PeerMember[] {
  const directory = fields.list("directory", (member) => ({
    memberId: member.memberId("memberId"),
    incarnation: member.incarnation("incarnation"),
    address: member.text("address"),
  }));
  if (new Set(directory.map(({ memberId }) => memberId)).size !== directory.length) {
    throw new FrameError("a directory names a member twice");
  }
  return directory;
}
