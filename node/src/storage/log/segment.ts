/**
 * The files of the Raft log: segments, each a header and one record for each write of the log.
 *
 * A record holds row `m` and the entries of one write, so that they cannot disagree. It contains the checksum of the
 * record before it: the checksums form a chain through all segments, and a record counts only where it belongs. Behind
 * the last record there are zeros, or the rest of a write that a crash interrupted.
 *
 * Header, big-endian: crc32 (4) · magic (4) · format (1) · zero (3) · number (8) · of the segment before: number (8), its
 * end (8), checksum of its last record (4) · zeros up to 64.
 * Record, big-endian: crc32 (4) · length (4) · checksum of the record before, or of the header (4) · count of entries (4) ·
 * row `m` · for each entry its length (4) and its bytes. A crc32 covers everything behind itself.
 */

import { crc32 } from "node:zlib";
import { readUint32, readUint53, writeUint32, writeUint53 } from "../../primitives/index.ts";
import { decodeLogMeta, encodeLogMeta, LOG_META_BYTES, type LogMeta } from "./log-meta.ts";

/** The directory of the segments, in the data directory. */
export const LOG_DIRECTORY = "log";
export const SEGMENT_HEADER_BYTES = 64;
const MAGIC = 0x714c6f67; // qLog
const FORMAT = 1;
const CHECKSUM_BYTES = 4;
const LENGTH_OFFSET = 4;
const CHAIN_OFFSET = 8;
const COUNT_OFFSET = 12;
const RECORD_HEADER_BYTES = 16;
const ENTRIES_OFFSET = RECORD_HEADER_BYTES + LOG_META_BYTES;
const ENTRY_LENGTH_BYTES = 4;

const NAME_PATTERN = /^[0-9]{10}\.log$/;
const NAME_DIGITS = 10;

/** The end of the last record of a segment: where the next one belongs. */
export interface SegmentEnd {
  /** Number of the segment, from 1; 0 = there is none. */
  readonly number: number;
  /** In bytes, from the begin of the file. */
  readonly offset: number;
  /** Checksum of the last record, or of the header if there is none. */
  readonly checksum: number;
}

export const NO_SEGMENT: SegmentEnd = { number: 0, offset: 0, checksum: 0 };

export function segmentName(number: number): string {
  return `${String(number).padStart(NAME_DIGITS, "0")}.log`;
}

/** The number in the name of a segment; null for the name of any other file. */
export function segmentNumber(name: string): number | null {
  return NAME_PATTERN.test(name) ? Number.parseInt(name, 10) : null;
}

export function encodeSegmentHeader(number: number, previous: SegmentEnd): Uint8Array {
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
  writeUint32(bytes, 4, MAGIC);
  bytes[8] = FORMAT;
  writeUint53(bytes, 12, number);
  writeUint53(bytes, 20, previous.number);
  writeUint53(bytes, 28, previous.offset);
  writeUint32(bytes, 36, previous.checksum);
  writeUint32(bytes, 0, crc32(bytes.subarray(CHECKSUM_BYTES)));
  return bytes;
}

/** The end of the segment before, and the header's checksum; null if the header is not whole, or of another segment. */
export function decodeSegmentHeader(
  segment: Uint8Array,
  number: number,
): { readonly previous: SegmentEnd; readonly checksum: number } | null {
  const bytes = segment.subarray(0, SEGMENT_HEADER_BYTES);
  if (bytes.length < SEGMENT_HEADER_BYTES) {
    return null;
  }
  const checksum = readUint32(bytes, 0);
  const isWhole = crc32(bytes.subarray(CHECKSUM_BYTES)) === checksum && readUint32(bytes, 4) === MAGIC;
  if (!isWhole || bytes[8] !== FORMAT || readUint53(bytes, 12) !== number) {
    return null;
  }
  const previous = { number: readUint53(bytes, 20), offset: readUint53(bytes, 28), checksum: readUint32(bytes, 36) };
  return { previous, checksum };
}

/** The record of a write, which `sealRecord` completes. */
export function encodeRecord(meta: LogMeta, rows: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = ENTRIES_OFFSET;
  for (const row of rows) {
    length += ENTRY_LENGTH_BYTES + row.length;
  }
  const bytes = new Uint8Array(length);
  writeUint32(bytes, LENGTH_OFFSET, length);
  writeUint32(bytes, COUNT_OFFSET, rows.length);
  bytes.set(encodeLogMeta(meta), RECORD_HEADER_BYTES);
  let offset = ENTRIES_OFFSET;
  for (const row of rows) {
    writeUint32(bytes, offset, row.length);
    bytes.set(row, offset + ENTRY_LENGTH_BYTES);
    offset += ENTRY_LENGTH_BYTES + row.length;
  }
  return bytes;
}

/** Calls `visit` with the place of each entry of these rows in their record, in bytes from its begin. */
export function placeEntries(rows: readonly Uint8Array[], visit: (offset: number, length: number) => void): void {
  let offset = ENTRIES_OFFSET;
  for (const row of rows) {
    visit(offset + ENTRY_LENGTH_BYTES, row.length);
    offset += ENTRY_LENGTH_BYTES + row.length;
  }
}

/** Completes the record with the checksum of the one before it. Returns its own. */
export function sealRecord(record: Uint8Array, before: number): number {
  writeUint32(record, CHAIN_OFFSET, before);
  const checksum = crc32(record.subarray(CHECKSUM_BYTES));
  writeUint32(record, 0, checksum);
  return checksum;
}

export interface StoredRecord {
  readonly checksum: number;
  /** Where the next record belongs. */
  readonly end: number;
  readonly meta: LogMeta;
  /** The entries; views into the segment. */
  readonly rows: readonly Uint8Array[];
}

/** The record at this place, which follows the one with that checksum; null if there is no such whole record. */
export function readRecord(segment: Uint8Array, offset: number, before: number): StoredRecord | null {
  if (offset + ENTRIES_OFFSET > segment.length) {
    return null;
  }
  const length = readUint32(segment, offset + LENGTH_OFFSET);
  const end = offset + length;
  if (length < ENTRIES_OFFSET || end > segment.length || readUint32(segment, offset + CHAIN_OFFSET) !== before) {
    return null;
  }
  const record = segment.subarray(offset, end);
  const checksum = readUint32(record, 0);
  if (crc32(record.subarray(CHECKSUM_BYTES)) !== checksum) {
    return null;
  }
  const meta = decodeLogMeta(record.subarray(RECORD_HEADER_BYTES, ENTRIES_OFFSET));
  const rows = splitEntries(record);
  return meta === null || rows === null ? null : { checksum, end, meta, rows };
}

function splitEntries(record: Uint8Array): Uint8Array[] | null {
  const rows: Uint8Array[] = [];
  let offset = ENTRIES_OFFSET;
  for (let left = readUint32(record, COUNT_OFFSET); left > 0; left--) {
    if (offset + ENTRY_LENGTH_BYTES > record.length) {
      return null;
    }
    const begin = offset + ENTRY_LENGTH_BYTES;
    offset = begin + readUint32(record, offset);
    if (offset > record.length) {
      return null;
    }
    rows.push(record.subarray(begin, offset));
  }
  return offset === record.length ? rows : null;
}
