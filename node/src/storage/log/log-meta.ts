/**
 * Row `m` of the Raft log: owner, bounds and hard state. Part of every batch.
 *
 * Layout, big-endian: crc32 (4) · format (1) · zero (3) · cluster id (16) · incarnation (16) · member id, boot,
 * writeSeq, term, vote, commit, first, prevTerm, last, lastTerm (8 each).
 */

import { crc32 } from "node:zlib";
import { readUint32, readUint53, writeUint32, writeUint53 } from "../../primitives/index.ts";
import { uuidBytes, uuidText } from "../files/index.ts";

export interface LogMeta {
  readonly clusterId: string;
  readonly incarnation: string;
  readonly memberId: number;
  /** Counts the starts of this directory. */
  readonly boot: number;
  /** Sequence number of the write that contained this row. */
  readonly writeSeq: number;
  readonly term: number;
  readonly vote: number;
  /** An index known to be committed, at most `last`. */
  readonly commit: number;
  /** First and last index in the log; rows below `first` are garbage. Empty log: last = first − 1. */
  readonly first: number;
  /** Term of the entry before `first`. */
  readonly prevTerm: number;
  readonly last: number;
  readonly lastTerm: number;
}

/** The row of an empty log that was never written. */
export function emptyLogMeta(owner: Pick<LogMeta, "clusterId" | "incarnation" | "memberId">): LogMeta {
  const { clusterId, incarnation, memberId } = owner;
  const bounds = { commit: 0, first: 1, prevTerm: 0, last: 0, lastTerm: 0 };
  return { clusterId, incarnation, memberId, boot: 0, writeSeq: 0, term: 0, vote: 0, ...bounds };
}

const FORMAT = 1;
const NUMBERS_OFFSET = 40;
const NUMBERS = [
  "memberId",
  "boot",
  "writeSeq",
  "term",
  "vote",
  "commit",
  "first",
  "prevTerm",
  "last",
  "lastTerm",
] as const satisfies readonly (keyof LogMeta)[];
export const LOG_META_BYTES = NUMBERS_OFFSET + NUMBERS.length * 8;

export function encodeLogMeta(meta: LogMeta): Uint8Array {
  const bytes = new Uint8Array(LOG_META_BYTES);
  bytes[4] = FORMAT;
  bytes.set(uuidBytes(meta.clusterId), 8);
  bytes.set(Buffer.from(meta.incarnation, "hex"), 24);
  for (const [at, name] of NUMBERS.entries()) {
    writeUint53(bytes, NUMBERS_OFFSET + at * 8, meta[name]);
  }
  writeUint32(bytes, 0, crc32(bytes.subarray(4)));
  return bytes;
}

/** The decoded row, or null if it is damaged. */
export function decodeLogMeta(bytes: Uint8Array): LogMeta | null {
  if (bytes.length !== LOG_META_BYTES || bytes[4] !== FORMAT || readUint32(bytes, 0) !== crc32(bytes.subarray(4))) {
    return null;
  }
  const [memberId, boot, writeSeq, term, vote, commit, first, prevTerm, last, lastTerm] = NUMBERS.map((_, at) => {
    return readUint53(bytes, NUMBERS_OFFSET + at * 8);
  }) as [number, number, number, number, number, number, number, number, number, number];
  return {
    clusterId: uuidText(bytes.subarray(8, 24)),
    incarnation: Buffer.from(bytes.subarray(24, 40)).toString("hex"),
    memberId,
    boot,
    writeSeq,
    term,
    vote,
    commit,
    first,
    prevTerm,
    last,
    lastTerm,
  };
}
