/**
 * The handshake: the first frame of every connection between members, and its answer.
 *
 * The dialer says who it is and whom it means; the acceptor says whether that is right, before either side looks at
 * anything else. Judging is a pure function, so that it runs the same under simulation. The join token, which guards
 * the port where there is no TLS, is compared before anything is answered (`join-token.ts`).
 */

import { BodyReader, BodyWriter, NUMBER_BYTES } from "./body-codec.ts";
import type { ConnectionKind } from "./frame-type.ts";
import { encodeJson, JsonFields } from "./json-fields.ts";

/** A member as its peers know it. */
export interface PeerIdentity {
  /** The index of the entry that added the member. */
  readonly memberId: number;
  /** 32 lower-case hexadecimal digits, minted with the data directory. */
  readonly incarnation: string;
}

/** The first and the last of versions that somebody can work with. */
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
  /** An IP address at which the dialer is reached as well as by its name, which may not be known yet; null = none. */
  readonly dialHint: string | null;
}

/** Why a handshake was refused; BUSY is for snapshots alone and says nothing about who asked. */
export type HelloRefusal = IdentityRefusal | "BUSY";
export type IdentityRefusal = "WRONG_CLUSTER" | "WRONG_TARGET" | "VERSION" | "REMOVED" | "WRONG_INCARNATION" | "STALE";

export type Answer =
  | { readonly ok: true; readonly protocol: number; readonly boot: number; readonly damaged: boolean }
  | { readonly ok: false; readonly refusal: HelloRefusal };

/** What an acceptor knows of itself and of the others when it judges a Hello. */
export interface AcceptorView {
  /** UUID in text form; null while this member belongs to no cluster. */
  readonly clusterId: string | null;
  readonly self: SelfDescription;
  /**
   * Up to which entry this member knows for certain who is a member: what it rests on is applied and durable here, and
   * a majority knows for good that it is committed, so that no power cut takes it back (P18).
   */
  readonly certainIndex: number;
  /** The cluster version in force, as far as applied. */
  readonly clusterVersion: number;
  /** Incarnation of a present member; undefined if no present member has this id; "" if its slot is unclaimed. */
  incarnationOf(memberId: number): string | undefined;
}

/** The version of the peer protocol that this release speaks. */
export const PROTOCOL_VERSION = 2;
export const PROTOCOL_VERSIONS: VersionRange = { min: PROTOCOL_VERSION, max: PROTOCOL_VERSION };

/** Bytes of every answer. */
export const ANSWER_BYTES = 4 * NUMBER_BYTES;

const MAGIC = "quoin-peer";
const KINDS: readonly ConnectionKind[] = ["control", "log", "snapshot"];
/** Their positions are on the wire: final. Position 0 is acceptance. */
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

/** Whether both ranges have a version of the peer protocol in common. This release knows a single one. */
export function speaksProtocol(offered: VersionRange): boolean {
  return offered.min <= PROTOCOL_VERSIONS.max && offered.max >= PROTOCOL_VERSIONS.min;
}

/**
 * Why the acceptor refuses a Hello, by the first rule that fails; null if it accepts.
 *
 * A member is REMOVED only if its id is not above the index up to which that is certain: ids are log indexes, so one
 * above it is merely not known yet. It is accepted, as is one whose slot is unclaimed here, and judged again when more
 * is applied. A binary is too old if it cannot run the version in force; one that looks too new meets a member that lags
 * behind: accepted.
 *
 * @param bootSeen the highest boot that was ever seen of the source's incarnation, 0 for none
 */
export function judgeHello(hello: Hello, view: AcceptorView, bootSeen: number): IdentityRefusal | null {
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
  const fields = JsonFields.of(body);
  fields.oneOf("magic", [MAGIC]);
  const source = fields.part("source");
  const target = fields.part("target");
  return {
    protocol: readVersions(fields.part("protocol")),
    kind: fields.oneOf("kind", KINDS),
    clusterId: fields.text("clusterId"),
    source: {
      memberId: source.memberId("memberId"),
      incarnation: source.incarnation("incarnation"),
      boot: source.count("boot"),
      damaged: source.flag("damaged"),
      versions: readVersions(source.part("versions")),
    },
    target: { memberId: target.memberId("memberId"), incarnation: target.incarnation("incarnation") },
    joinToken: fields.text("joinToken"),
    dialHint: fields.isNull("dialHint") ? null : fields.ipAddress("dialHint"),
  };
}

/** A range of versions in a handshake. Raises a FrameError. */
export function readVersions(fields: JsonFields): VersionRange {
  return { min: fields.count("min"), max: fields.count("max") };
}

/** Four numbers: which answer, protocol, boot, damaged; the last three are zero in a refusal. */
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
