/**
 * Messages of the consensus core as bodies of frames.
 *
 * Sender and receiver are not in the body: the connection has verified them. This file checks the rows of entries
 * completely (checksum, order and terms), so that the core only sees messages that a correct leader can send. A body of
 * any other form raises a FrameError.
 */

import { crc32 } from "node:zlib";
import { ENTRY_HEADER_BYTES, entryIndex, entryTerm, isIntactEntry, type Message } from "../raft/index.ts";
import { BodyReader, BodyWriter, isExactNumber, LENGTH_BYTES, NUMBER_BYTES } from "./body-codec.ts";
import { FrameError } from "./frame.ts";
import { FrameType, type LinkKind } from "./frame-type.ts";

type MessageName = Message["type"];

const TYPES: Readonly<Record<MessageName, number>> = {
  vote: FrameType.Vote,
  "pre-vote": FrameType.PreVote,
  "vote-reply": FrameType.VoteReply,
  "pre-vote-reply": FrameType.PreVoteReply,
  append: FrameType.Append,
  "append-reply": FrameType.AppendReply,
  heartbeat: FrameType.Heartbeat,
  "heartbeat-reply": FrameType.HeartbeatReply,
  "read-request": FrameType.ReadRequest,
  "read-reply": FrameType.ReadReply,
  "timeout-now": FrameType.TimeoutNow,
};

const NAMES = new Map<number, MessageName>(
  Object.entries(TYPES).map(([name, number]) => [number, name as MessageName]),
);
const BUSY = ["no", "busy", "full"] as const;
/** Where the numbers in an entry's row begin: after its checksum, format and type. */
const ROW_NUMBERS_OFFSET = 8;

/** The connection that carries the message: entries and their answers use a separate one. */
export function messageKind(message: Message): LinkKind {
  return message.type === "append" || message.type === "append-reply" ? "log" : "control";
}

/** Whether frames of this type are messages of the core. */
export function isMessageType(type: number): boolean {
  return NAMES.has(type);
}

/** The type of the frame that carries the message. */
export function messageType(message: Message): number {
  return TYPES[message.type];
}

export function encodeMessage(message: Message): Uint8Array {
  switch (message.type) {
    case "vote":
      return numbers(message.term, message.lastIndex, message.lastTerm, message.transfer ? 1 : 0);
    case "pre-vote":
      return numbers(message.term, message.lastIndex, message.lastTerm);
    case "vote-reply":
    case "pre-vote-reply":
      return numbers(message.term, message.granted ? 1 : 0, message.commit, message.commitTerm);
    case "append":
      return withRows(
        [message.term, message.prevIndex, message.prevTerm, message.commit, message.wantsReply ? 1 : 0],
        message.rows,
      );
    case "append-reply":
      return numbers(
        message.term,
        message.index,
        message.refused ? 1 : 0,
        message.hintIndex,
        message.hintTerm,
        message.commit,
        BUSY.indexOf(message.busy),
      );
    case "heartbeat":
      return numbers(message.term, message.commit, message.readPosition);
    case "heartbeat-reply":
      return numbers(message.term, message.commit, message.applied, message.readPosition, message.watched ? 1 : 0);
    case "read-request":
      return numbers(message.term, message.boot, message.position);
    case "read-reply":
      return numbers(message.term, message.boot, message.position, message.index);
    case "timeout-now":
      return numbers(message.term);
  }
}

/** Decodes the message that member `from` sent to member `to` in a frame of this type. Raises a FrameError. */
export function decodeMessage(type: number, body: Uint8Array, from: number, to: number): Message {
  const read = new BodyReader(body);
  const message = decodeFields(NAMES.get(type), { from, to, term: read.number() }, read);
  read.end();
  if (message.type === "append") {
    checkRows(message.rows, message);
  }
  return message;
}

function decodeFields(
  name: MessageName | undefined,
  header: { readonly from: number; readonly to: number; readonly term: number },
  read: BodyReader,
): Message {
  switch (name) {
    case "vote":
      return { type: name, ...header, lastIndex: read.number(), lastTerm: read.number(), transfer: read.flag() };
    case "pre-vote":
      return { type: name, ...header, lastIndex: read.number(), lastTerm: read.number() };
    case "vote-reply":
    case "pre-vote-reply":
      return { type: name, ...header, granted: read.flag(), commit: read.number(), commitTerm: read.number() };
    case "append":
      return {
        type: name,
        ...header,
        prevIndex: read.number(),
        prevTerm: read.number(),
        commit: read.number(),
        wantsReply: read.flag(),
        rows: read.list(() => read.bytes()),
      };
    case "append-reply":
      return {
        type: name,
        ...header,
        index: read.number(),
        refused: read.flag(),
        hintIndex: read.number(),
        hintTerm: read.number(),
        commit: read.number(),
        busy: read.oneOf(BUSY),
      };
    case "heartbeat":
      return { type: name, ...header, commit: read.number(), readPosition: read.number() };
    case "heartbeat-reply":
      return {
        type: name,
        ...header,
        commit: read.number(),
        applied: read.number(),
        readPosition: read.number(),
        watched: read.flag(),
      };
    case "read-request":
      return { type: name, ...header, boot: read.number(), position: read.number() };
    case "read-reply":
      return { type: name, ...header, boot: read.number(), position: read.number(), index: read.number() };
    case "timeout-now":
      return { type: name, ...header };
    case undefined:
      throw new FrameError("a frame has a type that is not a message");
  }
}

/**
 * Checks that entries follow the previous one without a gap, in terms that never fall and never exceed the leader's
 * term.
 */
function checkRows(
  rows: readonly Uint8Array[],
  after: { readonly prevIndex: number; readonly prevTerm: number; readonly term: number },
): void {
  let index = after.prevIndex;
  let term = after.prevTerm;
  for (const row of rows) {
    if (!isIntactEntry(row, crc32) || !hasExactNumbers(row)) {
      throw new FrameError("an entry is damaged");
    }
    index++;
    if (entryIndex(row) !== index || entryTerm(row) < term || entryTerm(row) > after.term) {
      throw new FrameError("an entry is not at its place");
    }
    term = entryTerm(row);
  }
}

function hasExactNumbers(row: Uint8Array): boolean {
  for (let offset = ROW_NUMBERS_OFFSET; offset < ENTRY_HEADER_BYTES; offset += NUMBER_BYTES) {
    if (!isExactNumber(row, offset)) {
      return false;
    }
  }
  return true;
}

function numbers(...values: readonly number[]): Uint8Array {
  const writer = new BodyWriter(values.length * NUMBER_BYTES);
  for (const value of values) {
    writer.number(value);
  }
  return writer.finish();
}

function withRows(values: readonly number[], rows: readonly Uint8Array[]): Uint8Array {
  let length = values.length * NUMBER_BYTES + LENGTH_BYTES;
  for (const row of rows) {
    length += LENGTH_BYTES + row.length;
  }
  const writer = new BodyWriter(length);
  for (const value of values) {
    writer.number(value);
  }
  writer.length(rows.length);
  for (const row of rows) {
    writer.bytes(row);
  }
  return writer.finish();
}
