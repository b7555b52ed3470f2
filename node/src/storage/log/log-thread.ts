/**
 * The log thread: performs all writes to the Raft log's store and to the mirror, one after the other.
 *
 * For each request: the synced batch, then the mirror slot, then (if requested) the sync of the mirror, then the reply.
 * The first error is reported as fatal and latches: nothing is written after it (P32).
 */

import { closeSync, constants, existsSync, fdatasyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { crashPoint, syncDirectory, writeMirrorSlot } from "../files/index.ts";
import { decodeChanges, fatalReply, Rocks, type ThreadReply } from "../rocks/index.ts";

export interface LogThreadData {
  readonly handle: bigint;
  readonly mirrorPath: string;
}

export type LogRequest =
  | {
      readonly kind: "write";
      readonly writeSeq: number;
      readonly changes: ArrayBuffer;
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
  | { readonly kind: "clear"; readonly from: Uint8Array; readonly to: Uint8Array }
  | { readonly kind: "close" };

export type LogReply =
  | { readonly kind: "written"; readonly writeSeq: number; readonly durationMs: number }
  | { readonly kind: "healed" };

/** After a power cut the mirror may be this many milliseconds behind, but never in term or vote. */
const MIRROR_SYNC_DELAY_MS = 1000;
/** Only the owner may read files in the data directory. */
const FILE_MODE = 0o600;

const port = parentPort;
if (port === null) {
  throw new Error("log-thread.ts is the entry of a worker thread");
}
const { handle, mirrorPath } = workerData as LogThreadData;
const rocks = await Rocks.attach(handle);
const mirrorIsNew = !existsSync(mirrorPath);
const mirrorFile = openSync(mirrorPath, constants.O_RDWR | constants.O_CREAT, FILE_MODE);
if (mirrorIsNew) {
  // The name of a new file must be durable too.
  syncDirectory(dirname(mirrorPath));
}
let failed = false;
let syncTimer: NodeJS.Timeout | null = null;

function reply(message: LogReply | ThreadReply): void {
  port?.postMessage(message);
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
        rocks.write(decodeChanges(request.changes), true);
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
        crashPoint("log.clear.before");
        rocks.clear(request.from, request.to, (error) => {
          if (error !== null) {
            fail(error);
          }
        });
        crashPoint("log.clear.after");
        return;
      case "close":
        syncMirrorFile();
        closeSync(mirrorFile);
        // The thread that opened the store closes it.
        port.close();
        return;
    }
  });
});
