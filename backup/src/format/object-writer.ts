/**
 * Writes an object as a stream: prelude, header, compressed frames of records, trailer. Memory is bounded by the size
 * of a frame. Compression runs on Node's threads, so the event loop continues during each frame.
 */

import { createHash, type Hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { BackupError } from "./backup-error.ts";
import {
  FORMAT_VERSION,
  FRAME_BYTES_TARGET,
  HEADER_BYTES_MAX,
  MAGICS,
  type ObjectKind,
  type ObjectSummary,
  RECORD_BYTES_MAX,
  RECORDS_FRAME,
  STORED,
  TRAILER_FRAME,
  ZSTD,
} from "./layout.ts";
import { RecordBuffer } from "./record-buffer.ts";
import { compress } from "./zstandard.ts";

/** Records in batches, so that not every record costs a promise. */
export type Batches<T> = AsyncIterable<Iterable<T>> | Iterable<Iterable<T>>;

/** An object being written. */
export interface ObjectWriting {
  /** To be consumed once, at the pace of its reader. An error of the source ends it without a trailer. */
  readonly stream: AsyncGenerator<Uint8Array, void, undefined>;
  /** Raises an error before the stream has ended. */
  summary(): ObjectSummary;
}

/** How to write one kind of object. */
export interface ObjectContent<T> {
  readonly kind: ObjectKind;
  readonly header: Uint8Array;
  readonly batches: Batches<T>;
  /** Appends one record; raises an error if it does not follow the last record. */
  readonly encode: (record: T, buffer: RecordBuffer) => void;
  /** Called after the last record; raises an error if it is not a valid end. */
  readonly onEnd?: () => void;
}

export function writeObject<T>(content: ObjectContent<T>): ObjectWriting {
  const writer = new ObjectWriter();
  return {
    stream: writer.write(content),
    summary() {
      if (writer.summary === undefined) {
        throw new Error("the object is not complete: its stream was not read to the end");
      }
      return writer.summary;
    },
  };
}

class ObjectWriter {
  readonly #hash: Hash = createHash("sha256");
  #bytes = 0;
  #frames = 0;
  #records = 0;
  #recordBytes = 0;
  summary: ObjectSummary | undefined;

  async *write<T>({
    kind,
    header,
    batches,
    encode,
    onEnd,
  }: ObjectContent<T>): AsyncGenerator<Uint8Array, void, undefined> {
    yield this.#hashed(encodeHead(kind, header));
    const buffer = new RecordBuffer(FRAME_BYTES_TARGET);
    let count = 0;
    for await (const batch of batches) {
      for (const record of batch) {
        const before = buffer.length;
        encode(record, buffer);
        checkRecord(buffer.length - before);
        count += 1;
        if (buffer.length >= FRAME_BYTES_TARGET) {
          yield* this.#frame(buffer.written, count);
          buffer.clear();
          count = 0;
        }
      }
    }
    onEnd?.();
    if (count > 0) {
      yield* this.#frame(buffer.written, count);
    }
    yield this.#trailer();
  }

  async *#frame(raw: Uint8Array, count: number): AsyncGenerator<Uint8Array, void, undefined> {
    const compressed = await compress(raw);
    const isSmaller = compressed.length < raw.length;
    // Copy an uncompressed body, because the buffer of the frame is reused.
    const body = isSmaller ? compressed : Uint8Array.from(raw);
    yield this.#hashed(encodeFrameHead(RECORDS_FRAME, isSmaller ? ZSTD : STORED, body.length, raw.length, count));
    yield this.#hashed(body);
    yield this.#hashed(encodeChecksum(body));
    this.#frames += 1;
    this.#records += count;
    this.#recordBytes += raw.length;
  }

  #trailer(): Uint8Array {
    const counts = new RecordBuffer(64);
    counts.u64(this.#records);
    counts.u64(this.#recordBytes);
    counts.u64(this.#frames);
    const length = counts.length + 32;
    const start = this.#hashed(
      Buffer.concat([encodeFrameHead(TRAILER_FRAME, STORED, length, length, 0), counts.written]),
    );
    const hash = this.#hash.digest();
    const end = Buffer.concat([hash, encodeChecksum(Buffer.concat([counts.written, hash]))]);
    this.#bytes += end.length;
    this.summary = { records: this.#records, recordBytes: this.#recordBytes, bytes: this.#bytes, hash };
    return Buffer.concat([start, end]);
  }

  #hashed(bytes: Uint8Array): Uint8Array {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    return bytes;
  }
}

function checkRecord(bytes: number): void {
  if (bytes > RECORD_BYTES_MAX) {
    throw new BackupError("bad-argument", `a record has ${bytes} bytes; at most ${RECORD_BYTES_MAX} are possible`);
  }
}

function encodeHead(kind: ObjectKind, header: Uint8Array): Uint8Array {
  if (header.length > HEADER_BYTES_MAX) {
    throw new BackupError(
      "bad-argument",
      `the header has ${header.length} bytes; at most ${HEADER_BYTES_MAX} are possible`,
    );
  }
  const head = new RecordBuffer(header.length + 32);
  head.bytes(new TextEncoder().encode(MAGICS[kind]));
  head.u16(FORMAT_VERSION);
  head.u16(0);
  head.u32(header.length);
  head.bytes(header);
  head.u32(crc32(head.written));
  return head.written;
}

function encodeFrameHead(type: number, compression: number, stored: number, raw: number, count: number): Uint8Array {
  const head = new RecordBuffer(32);
  head.u16(type * 0x100 + compression);
  head.u16(0);
  head.u32(stored);
  head.u32(raw);
  head.u32(count);
  head.u32(crc32(head.written));
  return head.written;
}

function encodeChecksum(bytes: Uint8Array): Uint8Array {
  const checksum = new RecordBuffer(4);
  checksum.u32(crc32(bytes));
  return checksum.written;
}
