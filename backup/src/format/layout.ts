/**
 * The common layout of snapshots and segments, byte by byte; backup/README.md has the same as a table. Readers of all
 * releases can rely on the part up to the checksum of the header, which never changes.
 */

/** The kinds of objects, and the first eight bytes of each. */
export const MAGICS = { snapshot: "QUOIN-SN", segment: "QUOIN-SG" } as const;
export type ObjectKind = keyof typeof MAGICS;

export const MAGIC_BYTES = 8;
/** The format that this release writes, and the newest that it reads. */
export const FORMAT_VERSION = 1;
/** Magic, version, two zero bytes, length of the header. */
export const PRELUDE_BYTES = 16;
export const HEADER_BYTES_MAX = 64 * 1024;
export const CHECKSUM_BYTES = 4;
export const HASH_BYTES = 32;

/** Type, compression, two zero bytes, stored length, raw length, number of records, checksum of these. */
export const FRAME_HEAD_BYTES = 20;
export const RECORDS_FRAME = 1;
export const TRAILER_FRAME = 2;
export const STORED = 0;
export const ZSTD = 1;
/** A frame is complete at this size: some milliseconds of work for the compression threads. */
export const FRAME_BYTES_TARGET = 256 * 1024;
/** The largest record. A value of the state has at most a few MiB. */
export const RECORD_BYTES_MAX = 32 * 1024 * 1024;
/** A frame just below the target takes one more record. */
export const FRAME_BYTES_MAX = FRAME_BYTES_TARGET + RECORD_BYTES_MAX;
/** Records, raw bytes, frames, SHA-256. */
export const TRAILER_BYTES = 3 * 8 + HASH_BYTES;

/** The content of an object, known once it is written or read completely. */
export interface ObjectSummary {
  /** Rows or entries. */
  readonly records: number;
  /** Bytes of all records, uncompressed. */
  readonly recordBytes: number;
  /** Bytes of the object, without encryption. */
  readonly bytes: number;
  /** SHA-256 of all bytes before the hash itself. The next object of the chain contains it. */
  readonly hash: Uint8Array;
}
