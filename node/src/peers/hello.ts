/**
 * The handshake: the first frame of every connection between members, and its answer.
 *
 * The dialer names itself and the member that it wants. The acceptor answers whether that is right, before either side
 * looks at anything else. The judgement is a pure function, so that it runs the same way under simulation. The join
 * token protects the port without TLS; the acceptor checks it before it answers anything (`join-token.ts`).
 */

import { BodyReader, BodyWriter, NUMBER_BYTES } from "./body-codec.ts";
import type { ConnectionKind } from "./frame-type.ts";
import {
  count,
  encodeJson,
  flag,
  incarnation,
  ipAddress,
  jsonReader,
  memberId,
  object,
  oneOf,
  text,
  versionRange,
} from "./json-body.ts";

/** A member as its peers know it. */
export interface PeerIdentity {
  /** The index of the entry that added the member. */
  readonly memberId: number;
  /** 32 lower-case hexadecimal digits, generated with the data directory. */
  readonly incarnation: string;
}

/** The lowest and highest supported version. */
export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** A member as it knows itself. */
export interface SelfDescription extends PeerIdentity {
  /** Counts the starts of the data directory; durable before any handshake. */
  readonly boot: number;
  /** The member has lost data that it had acknowledged, and has not recovered yet. */
  readonly damaged: boolean;
  /** Cluster versions that this binary can run. */
  readonly versions: VersionRange;
}

export interface Hello {
  /** Versions of the peer protocol that the dialer speaks. */
  readonly protocol: VersionRange;
  readonly kind: ConnectionKind;
  /** UUID in text form. */
  readonly clusterId: string;
  readonly source: SelfDescription;
  readonly target: PeerIdentity;
  readonly joinToken: string;
  /** An IP address that reaches the dialer, because its name may not be known yet; null = none. */
  readonly dialHint: string | null;
}

/** Why the acceptor refused a handshake. BUSY is only for snapshots and does not concern the dialer's identity. */
export type HelloRefusal = IdentityRefusal | "BUSY";
export type IdentityRefusal = "WRONG_CLUSTER" | "WRONG_TARGET" | "VERSION" | "REMOVED" | "WRONG_INCARNATION" | "STALE";

export type Answer =
  | { readonly ok: true; readonly protocol: number; readonly boot: number; readonly damaged: boolean }
  | { readonly ok: false; readonly refusal: HelloRefusal };

/** What an acceptor knows about itself and the others when it judges a Hello. */
export interface AcceptorView {
  /** UUID in text form; null while this member belongs to no cluster. */
  readonly clusterId: string | null;
  readonly self: SelfDescription;
  /**
   * Up to this entry the member knows for certain who is a member. The entries behind this knowledge are applied and
   * durable here, and a majority durably knows that they are committed, so no power cut takes them back (P18).
   */
  readonly certainIndex: number;
  /** The cluster version in force in the applied state. */
  readonly clusterVersion: number;
  /** Incarnation of a current member; undefined if no current member has this id; "" while its slot is unclaimed. */
  incarnationOf(memberId: number): string | undefined;
}

/**
 * The newest version of the peer protocol. Version 3 added the frame of kept traces; a connection carries it only if both
 * sides speak that version.
 */
const PROTOCOL_VERSION = 3;
/** The versions that this release speaks. */
export const PROTOCOL_VERSIONS: VersionRange = { min: 2, max: PROTOCOL_VERSION };

/** Bytes of every answer. */
export const ANSWER_BYTES = 4 * NUMBER_BYTES;

const MAGIC = "quoin-peer";
const KINDS = ["control", "log", "snapshot"] as const satisfies readonly ConnectionKind[];
const readHello = jsonReader(
  "a Hello",
  object({
    magic: oneOf(MAGIC),
    protocol: versionRange,
    kind: oneOf(...KINDS),
    clusterId: text,
    source: object({ memberId, incarnation, boot: count, damaged: flag, versions: versionRange }),
    target: object({ memberId, incarnation }),
    joinToken: text,
    dialHint: ipAddress.nullable(),
  }),
);
/** The positions are on the wire and therefore final. Position 0 means accepted. */
const ANSWERS = [
  "ok",
  "WRONG_CLUSTER",
  "WRONG_TARGET",
  "VERSION",
  "REMOVED",
  "WRONG_INCARNATION",
  "STALE",
  "BUSY",
] as const satisfies readonly ("ok" | HelloRefusal)[];

/** Whether the ranges share a version of the peer protocol. */
export function speaksProtocol(offered: VersionRange): boolean {
  return offered.min <= PROTOCOL_VERSIONS.max && offered.max >= PROTOCOL_VERSIONS.min;
}

/** The newest version of the peer protocol that the dialer and this release share. */
export function commonProtocol(offered: VersionRange): number {
  return Math.min(offered.max, PROTOCOL_VERSION);
}

/**
 * Why the acceptor refuses a Hello, by the first rule that fails; null if it accepts.
 *
 * A member is REMOVED only if its id is not above the index up to which the membership is certain. Ids are log indexes,
 * so a higher id is only not known yet. The acceptor accepts such a member, and one whose slot is unclaimed here, and
 * judges it again when it has applied more. A binary that cannot run the version in force is too old. A binary that
 * looks too new is accepted, because the acceptor may lag behind.
 *
 * @param bootSeen the highest boot ever seen of the source's incarnation, 0 for none
 */
export function validateHello(hello: Hello, view: AcceptorView, bootSeen: number): IdentityRefusal | null {
  const { source, target } = hello;
  if (view.clusterId === null || hello.clusterId !== view.clusterId) {
    return "WRONG_CLUSTER";
  }
  const isTarget = target.memberId === view.self.memberId && target.incarnation === view.self.incarnation;
  if (!isTarget || source.memberId === view.self.memberId) {
    return "WRONG_TARGET";
  }
  if (!speaksProtocol(hello.protocol) || source.versions.max < view.clusterVersion) {
    return "VERSION";
  }
  const known = view.incarnationOf(source.memberId);
  if (known === undefined && source.memberId <= view.certainIndex) {
    return "REMOVED";
  }
  if (known !== undefined && known !== "" && known !== source.incarnation) {
    return "WRONG_INCARNATION";
  }
  return source.boot < bootSeen ? "STALE" : null;
}

export function encodeHello(hello: Hello): Uint8Array {
  return encodeJson({ magic: MAGIC, ...hello });
}

/** Raises a FrameError unless the body is a whole Hello. */
export function decodeHello(body: Uint8Array): Hello {
  const { magic: _, ...hello } = readHello(body);
  return hello;
}

/** Four numbers: the answer, protocol, boot, damaged; the last three are zero in a refusal. */
export function encodeAnswer(answer: Answer): Uint8Array {
  const writer = new BodyWriter(ANSWER_BYTES);
  if (answer.ok) {
    writer.number(0).number(answer.protocol).number(answer.boot);
    return writer.number(answer.damaged ? 1 : 0).finish();
  }
  return writer.number(ANSWERS.indexOf(answer.refusal)).number(0).number(0).number(0).finish();
}

/** Raises a FrameError unless the body is a whole answer. */
export function decodeAnswer(body: Uint8Array): Answer {
  const read = new BodyReader(body);
  const answer = read.oneOf(ANSWERS);
  const protocol = read.number();
  const boot = read.number();
  const damaged = read.flag();
  read.end();
  return answer === "ok" ? { ok: true, protocol, boot, damaged } : { ok: false, refusal: answer };
}
