/**
 * A snapshot: the whole replicated state at one applied index, as rows in the order of their keys. Only a member knows
 * the meaning of the rows.
 */

import { BackupError } from "./backup-error.ts";
import type { ByteCursor } from "./byte-cursor.ts";
import { ByteSource, type ByteStream } from "./byte-source.ts";
import { FieldReader, FieldWriter } from "./fields.ts";
import {
  FIELDS,
  KNOWN_FIELDS,
  numbersProblem,
  type Origin,
  originProblem,
  readOrigin,
  refuseInvalid,
  requireValid,
  writeOrigin,
} from "./header-fields.ts";
import { ObjectReader } from "./object-reader.ts";
import { type Batches, type ObjectWriting, writeObject } from "./object-writer.ts";
import type { RecordBuffer } from "./record-buffer.ts";
import { type ObjectReading, readRecords } from "./records.ts";

export interface SnapshotHeader extends Origin {
  /** Log index up to which the state is applied. */
  readonly index: number;
  /** Term of the entry at that index. */
  readonly term: number;
  readonly revision: number;
  /** The cluster's own clock, in milliseconds. */
  readonly tickMs: number;
  /** The cluster's wall clock, in milliseconds since 1970. */
  readonly wallMs: number;
  /** The running digest of the state after the entry at `index`. */
  readonly stateDigest: number;
}

export interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Writes a snapshot from rows in ascending order of their keys. Raises a BackupError (bad-argument, out-of-order). */
export function writeSnapshot(header: SnapshotHeader, rows: Batches<Row>): ObjectWriting {
  requireValid(headerProblem(header));
  let lastKey: Uint8Array | undefined;
  return writeObject({
    kind: "snapshot",
    header: encodeHeader(header),
    batches: rows,
    encode(row, buffer) {
      checkOrder(lastKey, row.key);
      // A copy, because the caller may reuse the memory of a row.
      lastKey = Uint8Array.from(row.key);
      encodeRow(row, buffer);
    },
  });
}

/**
 * Reads the header of a snapshot, and then its rows in batches. The views in a batch are valid as long as the batch is
 * kept. Raises a BackupError for any change since it was written.
 */
export async function readSnapshot(stream: ByteStream): Promise<ObjectReading<SnapshotHeader, Row>> {
  const source = new ByteSource(stream);
  const reader = new ObjectReader(source);
  let lastKey: Uint8Array | undefined;
  return readRecords(source, reader, {
    readHeader: async () => decodeHeader(await reader.header("snapshot")),
    decode(cursor) {
      const row = decodeRow(cursor);
      checkOrder(lastKey, row.key);
      lastKey = row.key;
      return row;
    },
  });
}

function encodeRow({ key, value }: Row, buffer: RecordBuffer): void {
  buffer.u32(key.length);
  buffer.u32(value.length);
  buffer.bytes(key);
  buffer.bytes(value);
}

function decodeRow(cursor: ByteCursor): Row {
  const [keyLength, valueLength] = [cursor.u32(), cursor.u32()];
  return { key: cursor.bytes(keyLength), value: cursor.bytes(valueLength) };
}

function checkOrder(lastKey: Uint8Array | undefined, key: Uint8Array): void {
  if (lastKey !== undefined && Buffer.compare(lastKey, key) >= 0) {
    throw new BackupError(
      "out-of-order",
      "a row does not follow the one before it in the order of keys. Use another backup",
    );
  }
}

function encodeHeader(header: SnapshotHeader): Uint8Array {
  const fields = new FieldWriter();
  writeOrigin(fields, header);
  fields.number(FIELDS.index, header.index);
  fields.number(FIELDS.term, header.term);
  fields.number(FIELDS.revision, header.revision);
  fields.number(FIELDS.tickMs, header.tickMs);
  fields.number(FIELDS.wallMs, header.wallMs);
  fields.number(FIELDS.stateDigest, header.stateDigest);
  return fields.written;
}

function decodeHeader(bytes: Uint8Array): SnapshotHeader {
  const fields = new FieldReader(bytes, KNOWN_FIELDS);
  const header = {
    ...readOrigin(fields),
    index: fields.number(FIELDS.index),
    term: fields.number(FIELDS.term),
    revision: fields.number(FIELDS.revision),
    tickMs: fields.number(FIELDS.tickMs),
    wallMs: fields.number(FIELDS.wallMs),
    stateDigest: fields.number(FIELDS.stateDigest),
  };
  refuseInvalid(headerProblem(header));
  return header;
}

function headerProblem(header: SnapshotHeader): string | undefined {
  const { index, term, revision, tickMs, wallMs, stateDigest } = header;
  return originProblem(header) ?? numbersProblem({ index, term, revision, tickMs, wallMs, stateDigest });
}
