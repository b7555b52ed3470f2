/**
 * The data directory of one member of several while its process is down. The member joined as member 7, holds twenty
 * entries of two terms, has applied them all, and has voted since.
 */

import { crc32 } from "node:zlib";
import { EntryType, encodeEntry, NO_ENVELOPE, sealEntry } from "../../src/raft/index.ts";
import { DEFAULT_STATE_LIMITS, encodeCommand, encodeFounding, StateMachine } from "../../src/state/index.ts";
import { type DataDirectory, type MemberData, openDataDirectory, type StoreError } from "../../src/storage/index.ts";
import { FOUNDING, soleVoter } from "../index.ts";

export const JOINED_MEMBER = {
  clusterId: FOUNDING.clusterId,
  memberId: 7,
  term: 3,
  vote: 2,
  applied: 20,
  appliedTerm: 2,
} as const;

/** The first entry of the second term. */
const SECOND_TERM_FROM = 11;
const TICK = encodeCommand({ principal: null, request: null, operation: { kind: "tick" } });

/** A sealed entry of the log: the founding, or one that only advances the positions of log and state. */
export function joinedEntry(index: number, term: number): Uint8Array {
  const row =
    index === 1
      ? encodeEntry(EntryType.Bootstrap, NO_ENVELOPE, encodeFounding(FOUNDING))
      : encodeEntry(EntryType.Command, NO_ENVELOPE, TICK);
  sealEntry(row, term, index, crc32);
  return row;
}

type OnFatal = (error: StoreError) => void;

function raise(error: StoreError): never {
  throw error;
}

export function openJoined(directory: string, onFatal: OnFatal = raise): Promise<DataDirectory> {
  return openDataDirectory({ directory, clusterName: "spec", name: "q-6", acceptMissingFence: false, onFatal });
}

/** Opens the directory of a member. */
export async function openJoinedMember(directory: string, onFatal: OnFatal = raise): Promise<MemberData> {
  const opened = await openJoined(directory, onFatal);
  if (opened.phase !== "member") {
    throw new Error(`the directory is ${opened.phase}: ${opened.phase === "refused" ? opened.reason : ""}`);
  }
  return opened.data;
}

/** Appends entries up to this one, all of this term, and applies the whole log. */
export async function appendTo(data: MemberData, to: number, term: number): Promise<void> {
  const { last } = data.log.bounds;
  const rows = Array.from({ length: to - last }, (_, at) => joinedEntry(last + 1 + at, term));
  const writeSeq = data.log.meta.writeSeq + 1;
  const hardState = { term: Math.max(term, data.log.meta.term), vote: JOINED_MEMBER.vote };
  await new Promise<void>((resolve) => {
    data.log.write({ writeSeq, ...hardState, commit: last, from: last + 1, rows, resetTo: null }, () => resolve());
  });
  const machine = new StateMachine(data.state, (before, bytes) => crc32(bytes, before), DEFAULT_STATE_LIMITS);
  for (let index = machine.progress.appliedIndex + 1; index <= to; index++) {
    machine.apply(data.log.entries(index, index, 1)[0] as Uint8Array, soleVoter);
  }
  machine.commit();
}

/** Makes the member. Its rows are in tables and in write-ahead logs of both stores. */
export async function makeJoinedMember(directory: string): Promise<void> {
  const opened = await openJoined(directory);
  if (opened.phase !== "empty") {
    throw new Error(`the directory is ${opened.phase}`);
  }
  const joined = await opened.join(JOINED_MEMBER.clusterId, JOINED_MEMBER.memberId);
  await appendTo(joined, SECOND_TERM_FROM - 1, 1);
  await joined.close();
  const data = await openJoinedMember(directory);
  await appendTo(data, JOINED_MEMBER.applied, JOINED_MEMBER.appliedTerm);
  const { writeSeq } = data.log.meta;
  await new Promise<void>((resolve) => {
    const hardState = { term: JOINED_MEMBER.term, vote: JOINED_MEMBER.vote, commit: JOINED_MEMBER.applied };
    const nothing = { from: JOINED_MEMBER.applied + 1, rows: [], resetTo: null };
    data.log.write({ writeSeq: writeSeq + 1, ...hardState, ...nothing }, () => resolve());
  });
  await data.close();
}
