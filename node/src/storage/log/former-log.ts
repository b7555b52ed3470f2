/**
 * The conversion of a directory of format 3, whose Raft log is a store of RocksDB in `raft/`: row `m`, and one row per
 * entry under `e` and its index.
 *
 * The segments are made in `log.new/`, which becomes `log/` when they are durable. Then the identity gets its new format,
 * so that no release of the former format takes the directory for one without a log. Then `raft/` goes. Until it is
 * gone, a start converts it again: it alone is the log up to there, and nothing writes to `log/` before.
 */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readUint32, writeUint53 } from "../../primitives/index.ts";
import { entryIndex } from "../../raft/index.ts";
import {
  crashPoint,
  DIRECTORY_MODE,
  dropEvidence,
  FILE_MODE,
  preserveEvidence,
  StoreError,
  syncDirectory,
  writeAll,
} from "../files/index.ts";
import { readIdentity, writeIdentity } from "../identity/index.ts";
import { Rocks } from "../rocks/index.ts";
import { decodeLogMeta, type LogMeta } from "./log-meta.ts";
import { encodeRecord, encodeSegmentHeader, LOG_DIRECTORY, NO_SEGMENT, sealRecord, segmentName } from "./segment.ts";

const FORMER_DIRECTORY = "raft";
const DRAFT = "log.new";
/** A log that is converted, while it is deleted. */
const CONVERTED = "raft-converted";
const META_KEY = new Uint8Array([0x6d]); // m
const ENTRY_TABLE = 0x65; // e
/** Bytes of entries in a record. */
const RECORD_BYTES = 1024 * 1024;
const OPTIONS = { createIfMissing: false, memtableBytes: 4 * 1024 * 1024, cacheBytes: 8 * 1024 * 1024 };

/**
 * Converts the log if the directory has one of the former format. Raises a StoreError: of kind "corruption" if it is
 * damaged, and then stays as it is; "locked" if a process of a former release has it open.
 */
export async function convertFormerLog(directory: string): Promise<void> {
  const path = join(directory, FORMER_DIRECTORY);
  const former = existsSync(path) ? await openFormer(path) : null;
  if (former !== null) {
    try {
      convert(directory, former);
    } finally {
      await former.close();
    }
    renameSync(path, join(directory, CONVERTED));
    syncDirectory(directory);
    crashPoint("convert.aside.after");
  }
  rmSync(join(directory, CONVERTED), { recursive: true, force: true });
}

/** Deletes what a conversion keeps of the files as they were: only once the log was judged as whole. */
export function dropFormerEvidence(directory: string): void {
  dropEvidence(join(directory, FORMER_DIRECTORY));
}

/** Null if another process has just converted it. */
async function openFormer(path: string): Promise<Rocks | null> {
  const isKept = preserveEvidence(path);
  try {
    return await Rocks.open(path, OPTIONS);
  } catch (error) {
    if (!existsSync(path)) {
      return null;
    }
    if (isKept && error instanceof StoreError && error.kind === "locked") {
      // The files belong to a running member and keep changing; RocksDB has recovered nothing.
      dropEvidence(path);
    }
    throw error;
  }
}

function convert(directory: string, former: Rocks): void {
  const draft = join(directory, DRAFT);
  const log = join(directory, LOG_DIRECTORY);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: DIRECTORY_MODE });
  crashPoint("convert.begin.after");
  const meta = former.get(META_KEY);
  // A directory that belongs to no cluster yet has a log without rows.
  if (meta !== undefined) {
    const decoded = decodeLogMeta(meta);
    if (decoded === null) {
      throw new StoreError("corruption", "the row of the Raft log that says how far it goes is damaged");
    }
    writeSegment(join(draft, segmentName(1)), former, decoded);
  }
  syncDirectory(draft);
  crashPoint("convert.written.after");
  rmSync(log, { recursive: true, force: true });
  renameSync(draft, log);
  syncDirectory(directory);
  crashPoint("convert.placed.after");
  const identity = readIdentity(directory);
  if (identity !== null) {
    writeIdentity(directory, identity);
  }
  crashPoint("convert.identity.after");
}

/** Writes the log as one segment, durably. Its last record has row `m` as it was. */
function writeSegment(path: string, former: Rocks, meta: LogMeta): void {
  const file = openSync(path, "w", FILE_MODE);
  try {
    const header = encodeSegmentHeader(1, NO_SEGMENT);
    writeAll(file, header, 0);
    let checksum = readUint32(header, 0);
    let offset = header.length;
    let rows: Uint8Array[] = [];
    let bytes = 0;
    const write = (last: number) => {
      const record = encodeRecord({ ...meta, last }, rows);
      checksum = sealRecord(record, checksum);
      writeAll(file, record, offset);
      offset += record.length;
      rows = [];
      bytes = 0;
    };
    let next = meta.first;
    former.scan(entryKey(meta.first), entryKey(meta.last + 1), ({ value }) => {
      if (entryIndex(value) !== next) {
        return false;
      }
      rows.push(value);
      bytes += value.length;
      if (bytes >= RECORD_BYTES) {
        write(next);
      }
      next++;
      return true;
    });
    if (next <= meta.last) {
      throw new StoreError("corruption", `entry ${next} of the Raft log is missing or damaged`);
    }
    write(meta.last);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function entryKey(index: number): Uint8Array {
  const key = new Uint8Array(9);
  key[0] = ENTRY_TABLE;
  writeUint53(key, 1, index);
  return key;
}
