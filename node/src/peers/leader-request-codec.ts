/**
 * Questions of members to their leader besides logging and reading: the state of the other members, and a transfer. And
 * questions to any member about itself, whose contents only the API knows.
 *
 * Questions are rare, change no state by themselves, and may be repeated. A body of any other form raises a FrameError.
 *
 * A question about a member has the form of a question about the membership in term 0, which no leader has. So a member
 * of an earlier release, which ignores the rest, refuses it.
 * This file also encodes the leader's tick, which the leader sends with its heartbeats.
 */

import { type ArchiveReport, type ArchiverAssignment, archiveDuty, archiveReport } from "./archive-codec.ts";
import { BodyReader, BodyWriter, NUMBER_BYTES } from "./body-codec.ts";
import {
  base64,
  count,
  encodeJson,
  flag,
  jsonReader,
  list,
  memberId,
  object,
  objectBy,
  oneOf,
  text,
} from "./json-body.ts";

/**
 * The cluster tick of the leader of a term, in milliseconds, and the highest index that the leader knows to be
 * committed.
 */
export interface LeaderTick {
  readonly term: number;
  readonly tickMs: number;
  /** Not an index that the receiver has: it only shows how far the receiver is behind. */
  readonly commitIndex: number;
  /** Index of the configuration that a majority durably knows to be committed, 0 if none is known yet (P18). */
  readonly quorumKnownConfigIndex: number;
}

/** A question to any member about itself. */
export interface MemberQuestion {
  /** Number of the question in the asking process. */
  readonly seq: number;
  readonly body: Uint8Array;
}

/** The answer; a null body = the member does not know the question. */
export interface MemberAnswer {
  readonly seq: number;
  readonly body: Uint8Array | null;
}

export type LeaderRequest = {
  /** Number of the question in the asking process. */
  readonly seq: number;
  /** The question is for the leader of this term. */
  readonly term: number;
} /** A member that may archive sets `archive`. */ & (
  | {
      readonly kind: "membership";
      readonly archive?: ArchiveReport | undefined;
      /** A question about the member, in base64. */
      readonly about?: string | undefined;
    }
  /** Transfer to member `target`, 0 = the most up-to-date one, if the term is still `ifTerm`, 0 = any term. */
  | { readonly kind: "transfer"; readonly target: number; readonly ifTerm: number }
);

/** What a leader knows about a member: lag and age of the last contact in milliseconds. */
export interface MemberHealthReport {
  readonly id: number;
  readonly lagMs: number;
  readonly contactAgeMs: number;
  readonly promotable: boolean;
}

export type LeaderReply = {
  readonly seq: number;
  readonly term: number;
} & (
  | {
      readonly kind: "membership";
      readonly commitIndex: number;
      readonly changing: boolean;
      readonly health: readonly MemberHealthReport[];
      /** For a member that may archive. */
      readonly archive?: ArchiverAssignment | undefined;
    }
  /** The transfer has begun. */
  | { readonly kind: "transfer" }
  /** The answer to a question about the member, in base64. */
  | { readonly kind: "member"; readonly answer: string }
  /** `reason` is a word that the users of the transport define. */
  | { readonly kind: "refused"; readonly reason: string }
);

const header = { seq: count, term: count };
const readQuestion = jsonReader(
  "a question",
  objectBy("kind", [
    object({ ...header, kind: oneOf("membership"), archive: archiveReport.optional(), about: base64.optional() }),
    object({ ...header, kind: oneOf("transfer"), target: count, ifTerm: count }),
  ]),
);
const readReply = jsonReader(
  "a reply",
  objectBy("kind", [
    object({
      ...header,
      kind: oneOf("membership"),
      commitIndex: count,
      changing: flag,
      health: list(object({ id: memberId, lagMs: count, contactAgeMs: count, promotable: flag })),
      archive: archiveDuty.optional(),
    }),
    object({ ...header, kind: oneOf("transfer") }),
    object({ ...header, kind: oneOf("member"), answer: base64 }),
    object({ ...header, kind: oneOf("refused"), reason: text }),
  ]),
);

export function encodeLeaderTick({ term, tickMs, commitIndex, quorumKnownConfigIndex }: LeaderTick): Uint8Array {
  const writer = new BodyWriter(4 * NUMBER_BYTES).number(term).number(tickMs);
  return writer.number(commitIndex).number(quorumKnownConfigIndex).finish();
}

/** Raises a FrameError unless the body is a whole tick. */
export function decodeLeaderTick(body: Uint8Array): LeaderTick {
  const read = new BodyReader(body);
  const tick = {
    term: read.number(),
    tickMs: read.number(),
    commitIndex: read.number(),
    quorumKnownConfigIndex: read.number(),
  };
  read.end();
  return tick;
}

export function encodeLeaderRequest(request: LeaderRequest): Uint8Array {
  return encodeJson(request);
}

/** Raises a FrameError unless the body is a whole question. */
export function decodeLeaderRequest(body: Uint8Array): LeaderRequest {
  return readQuestion(body);
}

export function encodeLeaderReply(reply: LeaderReply): Uint8Array {
  return encodeJson(reply);
}

/** Raises a FrameError unless the body is a whole reply. */
export function decodeLeaderReply(body: Uint8Array): LeaderReply {
  return readReply(body);
}

/** The term of questions about a member, and of their answers. */
const NO_TERM = 0;
const NOT_KNOWN = "not-known";

export function encodeMemberQuestion({ seq, body }: MemberQuestion): Uint8Array {
  return encodeLeaderRequest({ seq, term: NO_TERM, kind: "membership", about: body.toBase64() });
}

/** The question about the member in a request; null if it is a question to the leader. */
export function memberQuestionIn(request: LeaderRequest): MemberQuestion | null {
  const { seq, term, kind } = request;
  return kind === "membership" && term === NO_TERM && request.about !== undefined
    ? { seq, body: Uint8Array.fromBase64(request.about) }
    : null;
}

export function encodeMemberAnswer({ seq, body }: MemberAnswer): Uint8Array {
  return encodeLeaderReply(
    body === null
      ? { seq, term: NO_TERM, kind: "refused", reason: NOT_KNOWN }
      : { seq, term: NO_TERM, kind: "member", answer: body.toBase64() },
  );
}

/** The answer to a question about a member in a reply; null if it is a reply of a leader. */
export function memberAnswerIn(reply: LeaderReply): MemberAnswer | null {
  if (reply.term !== NO_TERM) {
    return null;
  }
  return { seq: reply.seq, body: reply.kind === "member" ? Uint8Array.fromBase64(reply.answer) : null };
}
