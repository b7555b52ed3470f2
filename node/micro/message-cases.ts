/** Making a command's entry, and the messages that carry entries from the leader to the other members. */

import { crc32 } from "node:zlib";
import { decodeMessage, encodeMessage, messageType } from "../src/peers/index.ts";
import { EntryType, encodeEntry, type Message, NO_PROPOSAL_ORIGIN, sealEntry } from "../src/raft/index.ts";
import { type ClientCommand, encodeCommand } from "../src/state/index.ts";
import { OWNER, requestOf } from "../test/index.ts";
import type { MicroCase } from "./measurement.ts";

const SHORT_ROUND_OPERATIONS = 200;
/** Entries of a message: with one write at a time, and with many. */
const ENTRIES: readonly number[] = [1, 64];
const TERM = 1;
const [LEADER, FOLLOWER] = [1, 2];

export function messageCases(): readonly MicroCase[] {
  const command = putCommand();
  const commandCase: MicroCase = {
    name: "encode a put's command and entry",
    roundMultiple: SHORT_ROUND_OPERATIONS,
    shortRoundOperations: SHORT_ROUND_OPERATIONS,
    prepare: (count) => () => {
      for (let at = 1; at <= count; at++) {
        entryOf(command, at);
      }
    },
  };
  return [commandCase, ...ENTRIES.flatMap((entries) => ofMessage(command, entries))];
}

function ofMessage(command: ClientCommand, entries: number): readonly MicroCase[] {
  const rows = Array.from({ length: entries }, (_, at) => entryOf(command, at + 1));
  const message: Message = {
    type: "append",
    from: LEADER,
    to: FOLLOWER,
    term: TERM,
    prevIndex: 0,
    prevTerm: 0,
    commit: 0,
    wantsReply: true,
    rows,
  };
  const body = encodeMessage(message);
  const operations = Math.ceil(SHORT_ROUND_OPERATIONS / entries);
  const rounds = { roundMultiple: operations, shortRoundOperations: operations };
  const named = (verb: string) => `${verb} a message of ${entries} ${entries === 1 ? "entry" : "entries"}`;
  return [
    { name: named("encode"), ...rounds, prepare: (count) => repeated(count, () => encodeMessage(message)) },
    {
      name: named("decode"),
      ...rounds,
      prepare: (count) => repeated(count, () => decodeMessage(messageType(message), body, LEADER, FOLLOWER)),
    },
  ];
}

function repeated(count: number, perform: () => unknown): () => void {
  return () => {
    for (let at = 0; at < count; at++) {
      perform();
    }
  };
}

function putCommand(): ClientCommand {
  const [key, value] = [Buffer.from("key-1234"), Buffer.alloc(256, 0x76)];
  const fields = { namespace: "default", key, value, ttlSeconds: 0, expectedModRevision: undefined };
  return {
    principal: OWNER,
    request: requestOf(1),
    operation: { kind: "put-key", ...fields, returnPrevious: false },
  };
}

function entryOf(command: ClientCommand, index: number): Uint8Array {
  const envelope = { tickMs: index, wallMs: index, origin: NO_PROPOSAL_ORIGIN };
  const row = encodeEntry(EntryType.Command, envelope, encodeCommand(command));
  sealEntry(row, TERM, index, crc32);
  return row;
}
