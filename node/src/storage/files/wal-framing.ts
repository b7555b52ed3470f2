/**
 * Checks the framing of a store's logs before RocksDB reads them.
 *
 * Manifests and write-ahead logs consist of records in blocks of 32 KiB, each with a checksum, a length and a type.
 * RocksDB 9.7 finds nearly all damage there by itself. But if a flipped bit turns the type of a record into one of a
 * recycled log, its reader loops for ever (log_reader.cc returns kBadRecord before it consumes anything), and a member
 * would hang at its start. These stores never recycle logs, so such a type is damage.
 *
 * RocksDB also truncates a write-ahead log at a record that fails its checksum, and reports that only in its own info
 * log. Once a store is known to have lost data, the same framing shows which file lost it.
 */

import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "./store-error.ts";

const LOG_PATTERN = /^MANIFEST-\d+$|\.log$/;
const BLOCK_BYTES = 32 * 1024;
/** Checksum (4), length (2, little-endian), type (1). */
const HEADER_BYTES = 7;
const LENGTH_OFFSET = 4;
const TYPE_OFFSET = 6;
/** Type in the zeros that a file system returns where nothing was written yet. */
const ZERO_TYPE = 0;
/** Full, first, middle, last, and the size of user-defined timestamps, each of a recycled log. */
const RECYCLED_TYPES = new Set([5, 6, 7, 8, 11]);

/** RocksDB stores checksums rotated and with this added, because a CRC over data that contains CRCs is weak. */
const CHECKSUM_DELTA = 0xa282ead8;
/** Remainders of the polynomial of Castagnoli, reflected, by byte. */
const CASTAGNOLI = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) {
    remainder = (remainder & 1) === 0 ? remainder >>> 1 : (remainder >>> 1) ^ 0x82f63b78;
  }
  return remainder;
});

/**
 * Names of the logs and manifests in this directory with a record that is truncated or fails its checksum, each with
 * the byte offset of the first such record. Reads all of them, at some 200 MiB/s: only for a store that has lost data.
 */
export function damagedLogs(directory: string): string[] {
  if (!existsSync(directory)) {
    return [];
  }
  const names = readdirSync(directory).filter((file) => LOG_PATTERN.test(file));
  return names.flatMap((name) => {
    const offset = damagedRecordOf(readFileSync(join(directory, name)));
    return offset === null ? [] : [`${name} at byte ${offset}`];
  });
}

/** Offset of the first record that is truncated or fails its checksum; null if there is none. */
function damagedRecordOf(log: Buffer): number | null {
  for (let start = 0; start < log.length; start += BLOCK_BYTES) {
    const block = log.subarray(start, start + BLOCK_BYTES);
    let offset = 0;
    while (offset + HEADER_BYTES <= block.length) {
      const end = offset + HEADER_BYTES + block.readUInt16LE(offset + LENGTH_OFFSET);
      if (block.readUInt8(offset + TYPE_OFFSET) === ZERO_TYPE && end === offset + HEADER_BYTES) {
        break;
      }
      // No record crosses its block; at the end of the file such a record is truncated.
      if (
        end > block.length ||
        block.readUInt32LE(offset) !== maskedChecksum(block.subarray(offset + TYPE_OFFSET, end))
      ) {
        return start + offset;
      }
      offset = end;
    }
  }
  return null;
}

function maskedChecksum(bytes: Uint8Array): number {
  let remainder = 0xffffffff;
  for (const byte of bytes) {
    remainder = (remainder >>> 8) ^ (CASTAGNOLI[(remainder ^ byte) & 0xff] as number);
  }
  const checksum = ~remainder >>> 0;
  return (((checksum >>> 15) | (checksum << 17)) + CHECKSUM_DELTA) >>> 0;
}

/** Raises a StoreError of kind "corruption" if a log of the store in this directory would stop RocksDB's reader. */
export function requireReadableLogs(directory: string): void {
  if (!existsSync(directory)) {
    return;
  }
  for (const name of readdirSync(directory).filter((file) => LOG_PATTERN.test(file))) {
    if (hasRecycledRecord(join(directory, name))) {
      throw new StoreError("corruption", `the file ${name} of the store in ${directory} has a damaged record`);
    }
  }
}

function hasRecycledRecord(path: string): boolean {
  const file = openIfPresent(path);
  if (file === null) {
    return false;
  }
  try {
    const block = Buffer.alloc(BLOCK_BYTES);
    for (;;) {
      const length = readSync(file, block, 0, BLOCK_BYTES, null);
      if (blockHasRecycledRecord(block.subarray(0, length))) {
        return true;
      }
      if (length < BLOCK_BYTES) {
        return false;
      }
    }
  } finally {
    closeSync(file);
  }
}

/** A process that has the store open may delete its logs at any moment. Opening the store then fails anyway. */
function openIfPresent(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return null;
    }
    throw error;
  }
}

function blockHasRecycledRecord(block: Buffer): boolean {
  let offset = 0;
  while (offset + HEADER_BYTES <= block.length) {
    const length = block.readUInt16LE(offset + LENGTH_OFFSET);
    const type = block.readUInt8(offset + TYPE_OFFSET);
    if (RECYCLED_TYPES.has(type)) {
      return true;
    }
    if (type === ZERO_TYPE && length === 0) {
      return false;
    }
    offset += HEADER_BYTES + length;
  }
  return false;
}
