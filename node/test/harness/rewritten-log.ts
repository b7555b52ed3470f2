/** Changes a Raft log while it is closed: its records are whole afterwards, whatever they hold. */

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  decodeSegmentHeader,
  encodeRecord,
  encodeSegmentHeader,
  LOG_DIRECTORY,
  type LogMeta,
  NO_SEGMENT,
  readRecord,
  SEGMENT_HEADER_BYTES,
  sealRecord,
  segmentName,
  segmentNumber,
} from "../../src/storage/log/index.ts";

export interface LogRecord {
  readonly meta: LogMeta;
  readonly rows: readonly Uint8Array[];
}

/** Paths of the segments of the log in this data directory, in order. */
export function segmentsOf(directory: string): string[] {
  const log = join(directory, LOG_DIRECTORY);
  return readdirSync(log)
    .filter((name) => segmentNumber(name) !== null)
    .sort()
    .map((name) => join(log, name));
}

/** Bytes of a file up to its last one that is not zero: a segment has zeros behind its last record. */
export function usedBytes(path: string): number {
  return readFileSync(path).findLastIndex((byte) => byte !== 0) + 1;
}

/** The records of all segments, in order. */
export function recordsOf(directory: string): LogRecord[] {
  return segmentsOf(directory).flatMap((path) => {
    const bytes = readFileSync(path);
    const records: LogRecord[] = [];
    let checksum = decodeSegmentHeader(bytes, segmentNumber(path.slice(-segmentName(1).length)) ?? 0)?.checksum ?? 0;
    let offset = SEGMENT_HEADER_BYTES;
    for (;;) {
      const record = readRecord(bytes, offset, checksum);
      if (record === null) {
        return records;
      }
      records.push({ meta: record.meta, rows: record.rows });
      ({ end: offset, checksum } = record);
    }
  });
}

/** Replaces the segments by one with these records. */
export function rewriteLog(directory: string, change: (records: readonly LogRecord[]) => readonly LogRecord[]): void {
  const records = change(recordsOf(directory));
  const header = encodeSegmentHeader(1, NO_SEGMENT);
  const parts = [header];
  let checksum = decodeSegmentHeader(header, 1)?.checksum ?? 0;
  for (const { meta, rows } of records) {
    const record = encodeRecord(meta, rows);
    checksum = sealRecord(record, checksum);
    parts.push(record);
  }
  for (const path of segmentsOf(directory)) {
    rmSync(path);
  }
  writeFileSync(join(directory, LOG_DIRECTORY, segmentName(1)), Buffer.concat(parts));
}

/** Replaces the entry with this index, counted from the begin of each record. */
export function replaceEntry(directory: string, index: number, to: Uint8Array): void {
  rewriteLog(directory, (records) =>
    records.map(({ meta, rows }) => {
      const first = meta.last - rows.length + 1;
      return { meta, rows: rows.map((row, at) => (first + at === index ? to : row)) };
    }),
  );
}
