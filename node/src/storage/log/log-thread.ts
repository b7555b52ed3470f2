/**
 * The log thread: performs all writes to the segments of the Raft log and to the mirror, one after the other.
 *
 * For each request: the record, synced, then the mirror slot, then (if requested) the sync of the mirror, then the
 * reply. The first error is reported as fatal and latches: nothing is written after it (P32).
 */

import { closeSync, constants, existsSync, fdatasyncSync, ftruncateSync, openSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { readUint32 } from "../../primitives/index.ts";
import { crashPoint, FILE_MODE, syncDirectory, writeAll, writeMirrorSlot } from "../files/index.ts";
import { fatalReply, type ThreadReply } from "../thread/index.ts";
import {
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentEnd,
  sealRecord,
  segmentName,
  segmentNumber,
} from "./segment.ts";

export interface LogThreadData {
  /** Path of the directory `log/`. */
  readonly directory: string;
  readonly mirrorPath: string;
  /** Where the next record belongs. */
  readonly end: SegmentEnd;
}

export type LogRequest =
  | {
      readonly kind: "write";
      readonly writeSeq: number;
      readonly record: ArrayBuffer;
      /** Whether the record begins the next segment. */
      readonly isNext: boolean;
      readonly mirror: Uint8Array;
      readonly mirrorOffset: number;
      /** Whether the mirror must be durable before the reply; otherwise it is within a second. */
      readonly syncMirror: boolean;
    }
  /** Writes only the mirror, durably. There is a reply only for a healing. */
  | {
      readonly kind: "mirror";
      readonly mirror: Uint8Array;
      readonly mirrorOffset: number;
      readonly clearsDamage: boolean;
    }
  /** Deletes the segments below this number. */
  | { readonly kind: "clear"; readonly below: number }
  | { readonly kind: "close" };

export type LogReply =
  | { readonly kind: "written"; readonly writeSeq: number; readonly durationMs: number }
  | { readonly kind: "healed" };

/** After a power cut the mirror may be this many milliseconds behind, but never in term or vote. */
const MIRROR_SYNC_DELAY_MS = 1000;
/**
 * A segment grows by so many zeros at a time. A sync of bytes that the file has already is cheaper than of a longer
 * file: the file system then need not write about the file.
 */
const GROWTH_BYTES = 256 * 1024;
const ZEROS = new Uint8Array(GROWTH_BYTES);
const NO_SPACE: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

const port = parentPort;
if (port === null) {
  throw new Error("log-thread.ts is the entry of a worker thread");
}
const { directory, mirrorPath, end: found } = workerData as LogThreadData;
const mirrorIsNew = !existsSync(mirrorPath);
const mirrorFile = openSync(mirrorPath, constants.O_RDWR | constants.O_CREAT, FILE_MODE);
if (mirrorIsNew) {
  // The name of a new file must be durable too.
  syncDirectory(dirname(mirrorPath));
}
let { number, offset, checksum } = found;
/** The segment with this number; null until the first write. */
let segment: number | null = null;
/** Up to here the segment has bytes. */
let size = offset;
let failed = false;
let syncTimer: NodeJS.Timeout | null = null;

function reply(message: LogReply | ThreadReply): void {
  port?.postMessage(message);
}

function writeRecord(record: Uint8Array, isNext: boolean): void {
  if (isNext) {
    beginSegment();
  } else if (segment === null) {
    // The rest of a write that a crash interrupted goes.
    segment = openSync(join(directory, segmentName(number)), "r+");
    ftruncateSync(segment, offset);
  }
  const file = segment as number;
  checksum = sealRecord(record, checksum);
  writeAll(file, record, offset);
  offset += record.length;
  if (offset > size) {
    grow(file);
  }
  fdatasyncSync(file);
  if (isNext) {
    syncDirectory(directory);
    crashPoint("log.segment.after");
  }
}

/** Makes the segment longer than its records. It does without where there is no space for that. */
function grow(file: number): void {
  size = offset + GROWTH_BYTES - (offset % GROWTH_BYTES);
  try {
    writeAll(file, ZEROS.subarray(0, size - offset), offset);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && NO_SPACE.has(error.code))) {
      throw error;
    }
  }
}

function beginSegment(): void {
  if (segment !== null) {
    closeSync(segment);
  }
  crashPoint("log.segment.before");
  const header = encodeSegmentHeader(number + 1, { number, offset, checksum });
  number++;
  const { O_RDWR, O_CREAT, O_TRUNC } = constants;
  segment = openSync(join(directory, segmentName(number)), O_RDWR | O_CREAT | O_TRUNC, FILE_MODE);
  writeAll(segment, header, 0);
  checksum = readUint32(header, 0);
  offset = SEGMENT_HEADER_BYTES;
  size = offset;
  crashPoint("log.segment.begun");
}

function clearBelow(below: number): void {
  for (const name of readdirSync(directory).sort()) {
    const cleared = segmentNumber(name);
    if (cleared !== null && cleared < below) {
      crashPoint("log.clear.before");
      rmSync(join(directory, name));
      crashPoint("log.clear.after");
    }
  }
}

function syncMirrorFile(): void {
  if (syncTimer !== null) {
    clearTimeout(syncTimer);
    syncTimer = null;
  }
  crashPoint("mirror.sync.before");
  fdatasyncSync(mirrorFile);
  crashPoint("mirror.sync.after");
}

function attempt(action: () => void): void {
  if (failed) {
    return;
  }
  try {
    action();
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): void {
  failed = true;
  reply(fatalReply(error));
}

port.on("message", (request: LogRequest) => {
  attempt(() => {
    switch (request.kind) {
      case "write": {
        const started = performance.now();
        crashPoint("log.batch.before");
        writeRecord(new Uint8Array(request.record), request.isNext);
        crashPoint("log.batch.after");
        writeMirrorSlot(mirrorFile, request.mirror, request.mirrorOffset);
        if (request.syncMirror) {
          syncMirrorFile();
        } else if (syncTimer === null) {
          syncTimer = setTimeout(() => attempt(syncMirrorFile), MIRROR_SYNC_DELAY_MS);
        }
        crashPoint("log.ack.before");
        reply({ kind: "written", writeSeq: request.writeSeq, durationMs: performance.now() - started });
        crashPoint("log.ack.after");
        return;
      }
      case "mirror":
        writeMirrorSlot(mirrorFile, request.mirror, request.mirrorOffset);
        syncMirrorFile();
        if (request.clearsDamage) {
          reply({ kind: "healed" });
        }
        return;
      case "clear":
        clearBelow(request.below);
        return;
      case "close":
        syncMirrorFile();
        closeSync(mirrorFile);
        if (segment !== null) {
          closeSync(segment);
        }
        port.close();
        return;
    }
  });
});
