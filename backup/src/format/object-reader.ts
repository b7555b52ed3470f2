/**
 * Reads an object as a stream, and refuses any changed byte. Checksums cover the header and each frame as soon as they
 * arrive; SHA-256 and counts cover the whole at the end. Before its end, the content is not proven to be a complete
 * backup.
 *
 * Memory is bounded by the largest frame that the format allows, whatever the bytes claim.
 */

import { createHash, type Hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { BackupError } from "./backup-error.ts";
import { ByteCursor, malformed } from "./byte-cursor.ts";
import type { ByteSource } from "./byte-source.ts";
import {
  CHECKSUM_BYTES,
  FORMAT_VERSION,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  HASH_BYTES,
  HEADER_BYTES_MAX,
  MAGIC_BYTES,
  MAGICS,
  type ObjectKind,
  type ObjectSummary,
  PRELUDE_BYTES,
  RECORDS_FRAME,
  STORED,
  TRAILER_BYTES,
  TRAILER_FRAME,
  ZSTD,
} from "./layout.ts";
import { decompress } from "./zstandard.ts";

/** The records of one frame, still encoded. */
export interface Frame {
  readonly bytes: Uint8Array;
  /** The number of records. */
  readonly count: number;
}

interface FrameHead {
  readonly type: number;
  readonly compression: number;
  readonly stored: number;
  readonly raw: number;
  readonly count: number;
}

export class ObjectReader {
  readonly #source: ByteSource;
  readonly #hash: Hash = createHash("sha256");
  readonly #start: number;
  #records = 0;
  #recordBytes = 0;
  #frames = 0;
  #summary: ObjectSummary | undefined;

  constructor(source: ByteSource) {
    this.#source = source;
    this.#start = source.bytesRead;
  }

  /** Reads the fields of the header. Raises an error if the object is of another kind or of a newer format. */
  async header(kind: ObjectKind): Promise<Uint8Array> {
    const prelude = await this.#source.readUpTo(PRELUDE_BYTES);
    checkMagic(prelude, kind);
    if (prelude.length < PRELUDE_BYTES) {
      throw new BackupError(
        "cut-off",
        "it ends in the middle of its header. Copy it again from where it was made, or use another backup",
      );
    }
    const cursor = new ByteCursor(prelude.subarray(MAGIC_BYTES), "the beginning");
    const version = cursor.u16();
    const reserved = cursor.u16();
    const length = cursor.u32();
    if (length > HEADER_BYTES_MAX) {
      throw damaged("the length of the header is impossible");
    }
    const header = await this.#source.read(length);
    const checksum = await this.#source.read(CHECKSUM_BYTES);
    checkSum(checksum, "the header", prelude, header);
    if (version > FORMAT_VERSION) {
      throw new BackupError(
        "newer-format",
        `it has format ${version}, and this release reads formats up to ${FORMAT_VERSION}. Use the release that wrote it, or a newer one`,
      );
    }
    if (version === 0 || reserved !== 0) {
      throw malformed("its header has an impossible format");
    }
    for (const part of [prelude, header, checksum]) {
      this.#hash.update(part);
    }
    return header;
  }

  /** All frames in order. At the end it has compared trailer, hash and counts, and nothing follows. */
  async *frames(): AsyncGenerator<Frame, void, undefined> {
    for (;;) {
      const headBytes = await this.#source.read(FRAME_HEAD_BYTES);
      const head = decodeFrameHead(headBytes);
      this.#hash.update(headBytes);
      if (head.type === TRAILER_FRAME) {
        await this.#trailer();
        return;
      }
      yield { bytes: await this.#body(head), count: head.count };
    }
  }

  /** The content of the object; undefined before the end. */
  get summary(): ObjectSummary | undefined {
    return this.#summary;
  }

  async #body({ compression, stored, raw, count }: FrameHead): Promise<Uint8Array> {
    const body = await this.#source.read(stored);
    const checksum = await this.#source.read(CHECKSUM_BYTES);
    checkSum(checksum, `frame ${this.#frames + 1}`, body);
    this.#hash.update(body).update(checksum);
    const bytes = compression === ZSTD ? await expand(body, raw) : body;
    if (bytes.length !== raw) {
      throw malformed(`frame ${this.#frames + 1} has ${bytes.length} bytes instead of ${raw}`);
    }
    this.#frames += 1;
    this.#records += count;
    this.#recordBytes += raw;
    return bytes;
  }

  async #trailer(): Promise<void> {
    const body = await this.#source.read(TRAILER_BYTES);
    checkSum(await this.#source.read(CHECKSUM_BYTES), "the trailer", body);
    const hash = this.#hash.update(body.subarray(0, TRAILER_BYTES - HASH_BYTES)).digest();
    const cursor = new ByteCursor(body, "the trailer");
    const [records, recordBytes, frames] = [cursor.u64(), cursor.u64(), cursor.u64()];
    // Check the counts first: if a writer lost a row, the counts show it, although the hash is right.
    if (records !== this.#records || recordBytes !== this.#recordBytes || frames !== this.#frames) {
      throw new BackupError(
        "wrong-counts",
        `it holds ${this.#records} records of ${this.#recordBytes} bytes in ${this.#frames} frames, and its trailer says ` +
          `${records} of ${recordBytes} in ${frames}. Use another backup`,
      );
    }
    if (!hash.equals(cursor.bytes(HASH_BYTES))) {
      throw damaged("its SHA-256 differs from the one in its trailer");
    }
    if (!(await this.#source.isAtEnd())) {
      throw new BackupError(
        "trailing-bytes",
        "bytes follow its end. Copy it again from where it was made, or use another backup",
      );
    }
    this.#summary = { records, recordBytes, bytes: this.#source.bytesRead - this.#start, hash };
  }
}

function damaged(what: string): BackupError {
  return new BackupError(
    "damaged",
    `${what}: bytes were changed since it was written. Copy it again from where it was made, or use another backup`,
  );
}

function checkMagic(prelude: Uint8Array, kind: ObjectKind): void {
  const magic = Buffer.from(prelude.subarray(0, MAGIC_BYTES)).toString("latin1");
  if (magic === MAGICS[kind]) {
    return;
  }
  const other = Object.entries(MAGICS).find(([, value]) => value === magic)?.[0];
  if (other !== undefined) {
    throw new BackupError("not-a-backup", `it is a ${other}, not a ${kind}. Name a ${kind}`);
  }
  if (prelude.length > 0 && prelude.length < MAGIC_BYTES && MAGICS[kind].startsWith(magic)) {
    throw new BackupError(
      "cut-off",
      "it ends in the middle of its first bytes. Copy it again from where it was made, or use another backup",
    );
  }
  throw new BackupError("not-a-backup", `it is not a ${kind} of Quoin: its first bytes differ. Check the name`);
}

function checkSum(checksum: Uint8Array, what: string, ...parts: readonly Uint8Array[]): void {
  const expected = new ByteCursor(checksum, "a checksum").u32();
  const actual = parts.reduce((value, part) => crc32(part, value), 0);
  if (actual !== expected) {
    throw damaged(`the checksum of ${what} is wrong`);
  }
}

function decodeFrameHead(bytes: Uint8Array): FrameHead {
  const checked = bytes.subarray(0, FRAME_HEAD_BYTES - CHECKSUM_BYTES);
  checkSum(bytes.subarray(checked.length), "the head of a frame", checked);
  const cursor = new ByteCursor(checked, "the head of a frame");
  const [kind, reserved] = [cursor.u16(), cursor.u16()];
  const head = {
    type: kind >> 8,
    compression: kind & 0xff,
    stored: cursor.u32(),
    raw: cursor.u32(),
    count: cursor.u32(),
  };
  if (reserved !== 0 || !(head.type === TRAILER_FRAME ? isTrailer(head) : isRecords(head))) {
    throw malformed("the head of a frame holds impossible values");
  }
  return head;
}

function isTrailer({ compression, stored, raw, count }: FrameHead): boolean {
  return compression === STORED && stored === TRAILER_BYTES && raw === TRAILER_BYTES && count === 0;
}

function isRecords({ type, compression, stored, raw, count }: FrameHead): boolean {
  return (
    type === RECORDS_FRAME &&
    (compression === STORED || compression === ZSTD) &&
    raw <= FRAME_BYTES_MAX &&
    stored <= raw &&
    count > 0 &&
    count <= raw
  );
}

async function expand(body: Uint8Array, raw: number): Promise<Uint8Array> {
  try {
    return await decompress(body, Math.max(1, raw));
  } catch (error) {
    if (error instanceof BackupError) {
      throw error;
    }
    throw new BackupError("damaged", "a frame cannot be decompressed. Use another backup", { cause: error });
  }
}
