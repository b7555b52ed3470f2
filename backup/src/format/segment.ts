/**
 * A segment: the committed entries of the Raft log from one index to another, without a gap. It names its previous
 * object by id and hash, and so is a link of a chain that begins with a snapshot. Only a member knows the meaning of
 * the entries.
 */

import { BackupError } from "./backup-error.ts";
import type { ByteCursor } from "./byte-cursor.ts";
import { ByteSource, type ByteStream } from "./byte-source.ts";
import { FieldReader, FieldWriter } from "./fields.ts";
import {
  FIELDS,
  isObjectId,
  KNOWN_FIELDS,
  numbersProblem,
  type Origin,
  originProblem,
  readId,
  readOrigin,
  refuseInvalid,
  requireValid,
  writeOrigin,
} from "./header-fields.ts";
import { HASH_BYTES } from "./layout.ts";
import { ObjectReader } from "./object-reader.ts";
import { type Batches, type ObjectWriting, writeObject } from "./object-writer.ts";
import type { RecordBuffer } from "./record-buffer.ts";
import { type ObjectReading, readRecords } from "./records.ts";

export interface SegmentHeader extends Origin {
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly firstTerm: number;
  readonly lastTerm: number;
  /** The revisions after the entries at `firstIndex` and at `lastIndex`; undefined if the writer does not know them. */
  readonly firstRevision?: number | undefined;
  readonly lastRevision?: number | undefined;
  /** The wall clock of these entries, in milliseconds since 1970; undefined if the writer does not know it. */
  readonly firstWallMs?: number | undefined;
  readonly lastWallMs?: number | undefined;
  /** The running digest of the state after the entry at `lastIndex`; undefined if the writer does not know it. */
  readonly stateDigest?: number | undefined;
  /** Id of the previous object: the segment that ends at `firstIndex` - 1, or a snapshot at that index. */
  readonly previousId: string;
  /** SHA-256 of that object, as in its trailer: 32 bytes. */
  readonly previousHash: Uint8Array;
}

export interface Entry {
  readonly index: number;
  readonly term: number;
  readonly bytes: Uint8Array;
}

/** Writes a segment. Raises a BackupError (bad-argument, out-of-order, gap) if entries and header do not match. */
export function writeSegment(header: SegmentHeader, entries: Batches<Entry>): ObjectWriting {
  requireValid(headerProblem(header));
  const sequence = new EntrySequence(header);
  return writeObject({
    kind: "segment",
    header: encodeHeader(header),
    batches: entries,
    encode(entry, buffer) {
      sequence.check(entry);
      encodeEntry(entry, buffer);
    },
    onEnd: () => sequence.end(),
  });
}

/** Reads the header of a segment, and then its entries in batches. Raises a BackupError like `readSnapshot`. */
export async function readSegment(stream: ByteStream): Promise<ObjectReading<SegmentHeader, Entry>> {
  const source = new ByteSource(stream);
  const reader = new ObjectReader(source);
  let sequence: EntrySequence | undefined;
  return readRecords(source, reader, {
    async readHeader() {
      const header = decodeHeader(await reader.header("segment"));
      sequence = new EntrySequence(header);
      return header;
    },
    decode(cursor) {
      const entry = decodeEntry(cursor);
      sequence?.check(entry);
      return entry;
    },
    onEnd: () => sequence?.end(),
  });
}

/** Checks indexes without a gap, terms that never decrease, and the beginning and end in the header. */
class EntrySequence {
  readonly #header: SegmentHeader;
  #nextIndex: number;
  #term: number;

  constructor(header: SegmentHeader) {
    this.#header = header;
    this.#nextIndex = header.firstIndex;
    this.#term = header.firstTerm;
  }

  check({ index, term }: Entry): void {
    if (index > this.#nextIndex) {
      throw new BackupError("gap", `entry ${this.#nextIndex} is missing before entry ${index}. Use another backup`);
    }
    const isFirst = index === this.#header.firstIndex;
    if (index < this.#nextIndex || term < this.#term || (isFirst && term !== this.#header.firstTerm)) {
      throw new BackupError(
        "out-of-order",
        `entry ${index} of term ${term} is where entry ${this.#nextIndex} of term ${this.#term} or later belongs. Use another backup`,
      );
    }
    if (index > this.#header.lastIndex) {
      throw new BackupError(
        "wrong-counts",
        `it holds entry ${index}, and its header ends at ${this.#header.lastIndex}`,
      );
    }
    this.#nextIndex = index + 1;
    this.#term = term;
  }

  end(): void {
    const { lastIndex, lastTerm } = this.#header;
    if (this.#nextIndex !== lastIndex + 1 || this.#term !== lastTerm) {
      throw new BackupError(
        "wrong-counts",
        `it ends with entry ${this.#nextIndex - 1} of term ${this.#term}, and its header says ${lastIndex} of term ${lastTerm}. Use another backup`,
      );
    }
  }
}

function encodeEntry({ index, term, bytes }: Entry, buffer: RecordBuffer): void {
  buffer.u64(index);
  buffer.u64(term);
  buffer.u32(bytes.length);
  buffer.bytes(bytes);
}

function decodeEntry(cursor: ByteCursor): Entry {
  return { index: cursor.u64(), term: cursor.u64(), bytes: cursor.bytes(cursor.u32()) };
}

function encodeHeader(header: SegmentHeader): Uint8Array {
  const fields = new FieldWriter();
  writeOrigin(fields, header);
  fields.number(FIELDS.firstIndex, header.firstIndex);
  fields.number(FIELDS.lastIndex, header.lastIndex);
  fields.number(FIELDS.firstTerm, header.firstTerm);
  fields.number(FIELDS.lastTerm, header.lastTerm);
  fields.number(FIELDS.firstRevision, header.firstRevision);
  fields.number(FIELDS.lastRevision, header.lastRevision);
  fields.number(FIELDS.firstWallMs, header.firstWallMs);
  fields.number(FIELDS.lastWallMs, header.lastWallMs);
  fields.number(FIELDS.stateDigest, header.stateDigest);
  fields.bytes(FIELDS.previousId, Buffer.from(header.previousId, "hex"));
  fields.bytes(FIELDS.previousHash, header.previousHash);
  return fields.written;
}

function decodeHeader(bytes: Uint8Array): SegmentHeader {
  const fields = new FieldReader(bytes, KNOWN_FIELDS);
  const header = {
    ...readOrigin(fields),
    firstIndex: fields.number(FIELDS.firstIndex),
    lastIndex: fields.number(FIELDS.lastIndex),
    firstTerm: fields.number(FIELDS.firstTerm),
    lastTerm: fields.number(FIELDS.lastTerm),
    firstRevision: fields.optionalNumber(FIELDS.firstRevision),
    lastRevision: fields.optionalNumber(FIELDS.lastRevision),
    firstWallMs: fields.optionalNumber(FIELDS.firstWallMs),
    lastWallMs: fields.optionalNumber(FIELDS.lastWallMs),
    stateDigest: fields.optionalNumber(FIELDS.stateDigest),
    previousId: readId(fields, FIELDS.previousId),
    previousHash: fields.bytes(FIELDS.previousHash, HASH_BYTES),
  };
  refuseInvalid(headerProblem(header));
  return header;
}

function headerProblem(header: SegmentHeader): string | undefined {
  const { firstIndex, lastIndex, firstTerm, lastTerm, firstRevision, lastRevision } = header;
  const { firstWallMs, lastWallMs, stateDigest } = header;
  const numbers = {
    firstIndex,
    lastIndex,
    firstTerm,
    lastTerm,
    firstRevision,
    lastRevision,
    firstWallMs,
    lastWallMs,
    stateDigest,
  };
  return originProblem(header) ?? numbersProblem(numbers) ?? boundsProblem(header);
}

function boundsProblem(header: SegmentHeader): string | undefined {
  const { firstIndex, lastIndex, firstTerm, lastTerm, firstRevision, lastRevision, previousId, previousHash } = header;
  if (firstIndex < 1 || lastIndex < firstIndex) {
    return "firstIndex must be at least 1, and lastIndex at least firstIndex";
  }
  if (lastTerm < firstTerm) {
    return "lastTerm must be at least firstTerm";
  }
  if ((lastRevision ?? Number.MAX_SAFE_INTEGER) < (firstRevision ?? 0)) {
    return "lastRevision must be at least firstRevision";
  }
  if (!isObjectId(previousId)) {
    return "previousId must have 32 hexadecimal digits in lower case";
  }
  return previousHash.length === HASH_BYTES ? undefined : `previousHash must have ${HASH_BYTES} bytes`;
}
