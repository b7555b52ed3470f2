/**
 * The Raft log on the disk: the segments of the directory `log/`, what they hold, and where the next write belongs.
 *
 * Opening changes no segment. It reads every record, and notes where a segment is not whole. It does not judge: only the
 * mirror shows whether what follows there was acknowledged (P33), and only row `m` which entries are needed. The lock in
 * `log/lock` is that of the whole data directory.
 */

import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DIRECTORY_MODE, StoreError, syncDirectory } from "../files/index.ts";
import { type Rocks, takeLock } from "../rocks/index.ts";
import { EntryPlaces } from "./entry-places.ts";
import type { LogMeta } from "./log-meta.ts";
import {
  decodeSegmentHeader,
  LOG_DIRECTORY,
  NO_SEGMENT,
  placeEntries,
  readRecord,
  SEGMENT_HEADER_BYTES,
  type SegmentEnd,
  segmentName,
  segmentNumber,
} from "./segment.ts";

const LOCK_DIRECTORY = "lock";
/** Entries at most so many bytes apart are read together; between them are only the beginnings of records. */
const GAP_BYTES_MAX = 1024;

interface Segment {
  readonly number: number;
  readonly previous: SegmentEnd;
  readonly checksum: number;
}

export class LogFiles {
  /** Path of the directory `log/`. */
  readonly directory: string;
  readonly #lock: Rocks;
  readonly #places = new EntryPlaces();
  /** Descriptors of the segments that were read from. */
  readonly #files = new Map<number, number>();
  /** Bytes of the segments that are full, by number. */
  readonly #full = new Map<number, number>();
  readonly #problems: string[] = [];
  #meta: LogMeta | null = null;
  #end = NO_SEGMENT;

  private constructor(directory: string, lock: Rocks) {
    this.directory = directory;
    this.#lock = lock;
  }

  /**
   * Opens the log in this data directory; creates it first if `isNew` and there is none. Raises a StoreError: of kind
   * "missing" if there is none, "locked" if another process has it open, "io" if it cannot be read.
   */
  static async open(dataDirectory: string, isNew: boolean): Promise<LogFiles> {
    const directory = join(dataDirectory, LOG_DIRECTORY);
    if (!existsSync(directory)) {
      if (!isNew) {
        throw new StoreError("missing", `there is no Raft log in ${directory}`);
      }
      mkdirSync(directory, { mode: DIRECTORY_MODE });
      syncDirectory(dataDirectory);
    }
    const lock = await takeLock(join(directory, LOCK_DIRECTORY));
    const files = new LogFiles(directory, lock);
    try {
      files.#readAll();
    } catch (error) {
      await lock.close();
      throw new StoreError("io", `the Raft log in ${directory} cannot be read: ${String(error)}`, { cause: error });
    }
    return files;
  }

  /** Row `m` of the last write; null if there is none. */
  get meta(): LogMeta | null {
    return this.#meta;
  }

  /** Where the next record belongs. */
  get end(): SegmentEnd {
    return this.#end;
  }

  /** Where the log ends, and where segments were not whole when it was opened, for people. */
  get whereItEnds(): string {
    const { number, offset } = this.#end;
    const end =
      number === 0 ? `no segment of ${LOG_DIRECTORY}/ is whole` : `it ends at byte ${offset} of ${segmentPath(number)}`;
    return [end, ...this.#problems].join("; ");
  }

  /** Bytes of all records. */
  get bytes(): number {
    return [...this.#full.values()].reduce((sum, bytes) => sum + bytes, this.#end.offset);
  }

  /** Number of the first segment that is there. */
  get firstStored(): number {
    return this.#full.keys().next().value ?? this.#end.number;
  }

  /** Number of the first segment that has an entry of the log; without entries, that of the last segment. */
  get firstNeeded(): number {
    const { first, next } = this.#places;
    return first < next ? this.#places.of(first).segment : this.#end.number;
  }

  /** Whether the log has this entry. Its bytes may be damaged. */
  has(index: number): boolean {
    return this.#places.has(index);
  }

  /** Deletes files in which nothing is needed: only of a log that was judged as whole. */
  tidy(): void {
    const isNeeded = (number: number | null) =>
      number === null || this.#full.has(number) || number === this.#end.number;
    for (const name of readdirSync(this.directory).filter((file) => !isNeeded(segmentNumber(file)))) {
      rmSync(join(this.directory, name));
    }
  }

  /**
   * Notes a record that is written at the end, or at the begin of the next segment. The entries below `first` are not
   * read any more.
   */
  add(
    record: {
      readonly bytes: number;
      readonly first: number;
      readonly from: number;
      readonly rows: readonly Uint8Array[];
    },
    isNext: boolean,
  ): void {
    let { number, offset } = this.#end;
    if (isNext) {
      if (number > 0) {
        this.#full.set(number, offset);
      }
      number++;
      offset = SEGMENT_HEADER_BYTES;
    }
    this.#placeRows(number, offset, record.from, record.rows);
    this.#places.dropBelow(record.first);
    // The thread that writes the record knows its checksum, and needs it alone.
    this.#end = { number, offset: offset + record.bytes, checksum: 0 };
  }

  /** Forgets the segments below this number, which are to be deleted. */
  forget(below: number): void {
    for (const number of [...this.#full.keys()].filter((full) => full < below)) {
      this.#full.delete(number);
      this.#closeFile(number);
    }
  }

  /**
   * The stored bytes of the entries from..to: at most `maxBytes`, but at least one entry; fewer if a file has fewer
   * bytes. The log must have them. Raises a StoreError.
   */
  read(from: number, to: number, maxBytes: number): Uint8Array[] {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    let index = from;
    while (index <= to) {
      const { segment, offset: begin, length } = this.#places.of(index);
      if (rows.length > 0 && bytes + length > maxBytes) {
        break;
      }
      // What lies together is read together.
      const places = [{ offset: begin, length }];
      bytes += length;
      index++;
      for (let end = begin + length; index <= to; index++) {
        const next = this.#places.of(index);
        const isNear = next.segment === segment && next.offset >= end && next.offset - end <= GAP_BYTES_MAX;
        if (!isNear || bytes + next.length > maxBytes) {
          break;
        }
        places.push(next);
        bytes += next.length;
        end = next.offset + next.length;
      }
      const last = places.at(-1) as { readonly offset: number; readonly length: number };
      const part = this.#readBytes(segment, begin, last.offset + last.length - begin);
      for (const { offset, length: size } of places) {
        rows.push(part.subarray(offset - begin, offset - begin + size));
      }
    }
    return rows;
  }

  /** Closes the files and releases the lock. The thread that writes must have ended. */
  async close(): Promise<void> {
    for (const number of [...this.#files.keys()]) {
      this.#closeFile(number);
    }
    await this.#lock.close();
  }

  #readAll(): void {
    const segments = this.#findSegments();
    for (const [at, segment] of segments.entries()) {
      const bytes = readFileSync(join(this.directory, segmentName(segment.number)));
      const end = this.#readSegment(segment, bytes);
      const next = segments[at + 1]?.previous;
      if (next === undefined) {
        this.#end = end;
        // Damage looks like the rest of a write that a crash interrupted.
        if (bytes.subarray(end.offset).some((byte) => byte !== 0)) {
          this.#noteProblem(end);
        }
      } else {
        this.#full.set(segment.number, end.offset);
        if (end.offset !== next.offset || end.checksum !== next.checksum) {
          this.#noteProblem(end);
          this.#meta = null;
          this.#places.truncate(0);
        }
      }
    }
  }

  /** The segments that the last one continues, in order. */
  #findSegments(): Segment[] {
    const found = new Map<number, Segment>();
    for (const name of readdirSync(this.directory)) {
      const number = segmentNumber(name);
      if (number !== null) {
        const header = decodeSegmentHeader(readHeader(join(this.directory, name)), number);
        if (header === null) {
          this.#noteProblem({ number, offset: 0 });
        } else {
          found.set(number, { number, ...header });
        }
      }
    }
    const segments: Segment[] = [];
    let segment = found.get(Math.max(0, ...found.keys()));
    while (segment !== undefined) {
      segments.unshift(segment);
      segment = found.get(segment.previous.number);
    }
    return segments;
  }

  #readSegment({ number, checksum }: Segment, bytes: Uint8Array): SegmentEnd {
    let end: SegmentEnd = { number, offset: SEGMENT_HEADER_BYTES, checksum };
    for (;;) {
      const record = readRecord(bytes, end.offset, end.checksum);
      if (record === null) {
        return end;
      }
      const { meta, rows } = record;
      this.#placeRows(number, end.offset, meta.last - rows.length + 1, rows);
      this.#places.dropBelow(meta.first);
      this.#meta = meta;
      end = { number, offset: record.end, checksum: record.checksum };
    }
  }

  #placeRows(number: number, recordOffset: number, from: number, rows: readonly Uint8Array[]): void {
    this.#places.truncate(from);
    placeEntries(rows, (offset, length) => this.#places.add(number, recordOffset + offset, length));
  }

  #noteProblem({ number, offset }: Pick<SegmentEnd, "number" | "offset">): void {
    this.#problems.push(`${segmentPath(number)} is damaged, or the rest of it is missing, from byte ${offset} on`);
  }

  #readBytes(segment: number, offset: number, length: number): Uint8Array {
    const bytes = Buffer.allocUnsafe(length);
    try {
      const count = readSync(this.#fileOf(segment), bytes, 0, length, offset);
      return bytes.subarray(0, count);
    } catch (error) {
      const name = segmentName(segment);
      throw new StoreError("io", `the file ${name} of the Raft log cannot be read: ${String(error)}`, { cause: error });
    }
  }

  #fileOf(segment: number): number {
    let file = this.#files.get(segment);
    if (file === undefined) {
      file = openSync(join(this.directory, segmentName(segment)), "r");
      this.#files.set(segment, file);
    }
    return file;
  }

  #closeFile(segment: number): void {
    const file = this.#files.get(segment);
    if (file !== undefined) {
      this.#files.delete(segment);
      closeSync(file);
    }
  }
}

function segmentPath(number: number): string {
  return join(LOG_DIRECTORY, segmentName(number));
}

function readHeader(path: string): Uint8Array {
  const header = new Uint8Array(SEGMENT_HEADER_BYTES);
  const file = openSync(path, "r");
  try {
    return header.subarray(0, readSync(file, header, 0, header.length, 0));
  } finally {
    closeSync(file);
  }
}
