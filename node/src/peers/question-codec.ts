/**
 * What members ask their leader besides logging and reading: how the others are, and to hand over.
 *
 * Questions are rare, change nothing by themselves and may be asked again; a body of any other form raises a
 * FrameError. The leader's tick, which goes with its heartbeats, is here too.
 */

import { type ArchiveDuty, type ArchiveReport, archiveDutyOf, archiveReportOf } from "./archive-codec.ts";
import { BodyReader, BodyWriter, NUMBER_BYTES } from "./body-codec.ts";
import { encodeJson, JsonFields } from "./json-fields.ts";

/** The cluster tick of the leader of a term, in milliseconds, and how far it knows the log as committed. */
export interface LeaderTick {
  readonly term: number;
  readonly tickMs: number;
  /** Not what the receiver holds: it only tells how far that is behind. */
  readonly commitIndex: number;
  /** The configuration of which a majority knows for good that it is committed, 0 if that is not known yet (P18). */
  readonly lastingConfigIndex: number;
}

export type Question = {
  /** Number of the question in the process that asks. */
  readonly seq: number;
  /** The leader of this term is asked. */
  readonly term: number;
} /** `archive` is given by a member that may archive. */ & (
  | { readonly kind: "membership"; readonly archive?: ArchiveReport | undefined }
  /** Hand over to the member `target`, 0 = to whoever is furthest, if the term is still `ifTerm`, 0 = whatever it is. */
  | { readonly kind: "transfer"; readonly target: number; readonly ifTerm: number }
);

/** What a leader knows of a member: lag and age of the last contact in milliseconds. */
export interface MemberHealthReport {
  readonly id: number;
  readonly lagMs: number;
  readonly contactAgeMs: number;
  readonly promotable: boolean;
}

export type Reply = {
  readonly seq: number;
  readonly term: number;
} & (
  | {
      readonly kind: "membership";
      readonly commitIndex: number;
      readonly changing: boolean;
      readonly health: readonly MemberHealthReport[];
      /** For a member that may archive. */
      readonly archive?: ArchiveDuty | undefined;
    }
  /** The transfer has begun. */
  | { readonly kind: "transfer" }
  /** `reason` is a word of those who use the transport. */
  | { readonly kind: "refused"; readonly reason: string }
);

export function encodeLeaderTick({ term, tickMs, commitIndex, lastingConfigIndex }: LeaderTick): Uint8Array {
  const writer = new BodyWriter(4 * NUMBER_BYTES).number(term).number(tickMs);
  return writer.number(commitIndex).number(lastingConfigIndex).finish();
}

/** Raises a FrameError unless the body is a whole tick. */
export function decodeLeaderTick(body: Uint8Array): LeaderTick {
  const read = new BodyReader(body);
  const tick = {
    term: read.number(),
    tickMs: read.number(),
    commitIndex: read.number(),
    lastingConfigIndex: read.number(),
  };
  read.end();
  return tick;
}

export function encodeQuestion(question: Question): Uint8Array {
  return encodeJson(question);
}

/** Raises a FrameError unless the body is a whole question. */
export function decodeQuestion(body: Uint8Array): Question {
  const fields = JsonFields.of(body);
  const header = { seq: fields.count("seq"), term: fields.count("term") };
  const kind = fields.oneOf("kind", ["membership", "transfer"]);
  if (kind === "membership") {
    return fields.has("archive")
      ? { ...header, kind, archive: archiveReportOf(fields.part("archive")) }
      : { ...header, kind };
  }
  return { ...header, kind, target: fields.count("target"), ifTerm: fields.count("ifTerm") };
}

export function encodeReply(reply: Reply): Uint8Array {
  return encodeJson(reply);
}

/** Raises a FrameError unless the body is a whole reply. */
export function decodeReply(body: Uint8Array): Reply {
  const fields = JsonFields.of(body);
  const header = { seq: fields.count("seq"), term: fields.count("term") };
  const kind = fields.oneOf("kind", ["membership", "transfer", "refused"]);
  switch (kind) {
    case "membership":
      return {
        ...header,
        kind,
        commitIndex: fields.count("commitIndex"),
        changing: fields.flag("changing"),
        health: fields.list("health", (member) => ({
          id: member.memberId("id"),
          lagMs: member.count("lagMs"),
          contactAgeMs: member.count("contactAgeMs"),
          promotable: member.flag("promotable"),
        })),
        ...(fields.has("archive") ? { archive: archiveDutyOf(fields.part("archive")) } : {}),
      };
    case "transfer":
      return { ...header, kind };
    case "refused":
      return { ...header, kind, reason: fields.text("reason") };
  }
}
