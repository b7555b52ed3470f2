/**
 * Questions of members to their leader besides logging and reading: the state of the other members, and a transfer.
 *
 * Questions are rare, change no state by themselves, and may be repeated. A body of any other form raises a FrameError.
 * This file also encodes the leader's tick, which the leader sends with its heartbeats.
 */

import { type ArchiveReport, type ArchiverAssignment, archiveDuty, archiveReport } from "./archive-codec.ts";
import { BodyReader, BodyWriter, NUMBER_BYTES } from "./body-codec.ts";
import { count, encodeJson, flag, jsonReader, list, memberId, object, objectBy, oneOf, text } from "./json-body.ts";

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

export type LeaderRequest = {
  /** Number of the question in the asking process. */
  readonly seq: number;
  /** The question is for the leader of this term. */
  readonly term: number;
} /** A member that may archive sets `archive`. */ & (
  | { readonly kind: "membership"; readonly archive?: ArchiveReport | undefined }
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
  /** `reason` is a word that the users of the transport define. */
  | { readonly kind: "refused"; readonly reason: string }
);

const header = { seq: count, term: count };
const readQuestion = jsonReader(
  "a question",
  objectBy("kind", [
    object({ ...header, kind: oneOf("membership"), archive: archiveReport.optional() }),
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
