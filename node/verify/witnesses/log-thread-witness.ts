/**
 * Reports the disk operations of the log thread to its spec, and can make a write fail. The spec loads it into the
 * thread by `--import`, before the thread itself; the product never loads it.
 *
 * A crash of the process leaves the same files whether a write was synced or not, so the spec must observe the calls.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { MIRROR_FILE } from "../../src/storage/files/index.ts";
import { LOG_DIRECTORY, SEGMENT_HEADER_BYTES } from "../../src/storage/log/index.ts";

/** Number of the sync of a segment that fails, from 1 on; 0 = none. */
const { failingSync } = workerData as { readonly failingSync: number };
let syncs = 0;

function tell(what: string): void {
  parentPort?.postMessage({ kind: "seen", what });
}

// The witness itself answers a ping, after all earlier requests to the thread.
const listen = parentPort?.on.bind(parentPort);
if (parentPort !== null && listen !== undefined) {
  parentPort.on = ((event: "message", listener: (request: { readonly kind: string }) => void) => {
    return listen(event, (request: { readonly kind: string }) => {
      if (request.kind === "ping") {
        tell("pong");
      } else {
        listener(request);
      }
    });
  }) as typeof parentPort.on;
}

/** Open files by their descriptors. */
const names = new Map<number, string>();
const { openSync, fdatasyncSync, fsyncSync, writeSync } = fs;
fs.openSync = ((path: string | URL, ...rest: [string]) => {
  const file = openSync(path, ...rest);
  names.set(file, basename(String(path)));
  return file;
}) as typeof openSync;
fs.fdatasyncSync = (file) => {
  if (names.get(file) === MIRROR_FILE) {
    tell("synced mirror");
  } else {
    syncs++;
    tell("synced log");
    if (syncs === failingSync) {
      throw new Error("the disk has failed");
    }
  }
  fdatasyncSync(file);
};
fs.fsyncSync = (file) => {
  if (names.get(file) === LOG_DIRECTORY) {
    tell("synced directory");
  }
  fsyncSync(file);
};
fs.writeSync = ((...args: [number, Uint8Array, number, number, number]) => {
  const [file, bytes, , length] = args;
  if (names.get(file) === MIRROR_FILE) {
    tell("mirror");
  } else if (length === SEGMENT_HEADER_BYTES) {
    tell("header");
  } else {
    tell(bytes.every((byte) => byte === 0) ? "growth" : "record");
  }
  return writeSync(...args);
}) as typeof writeSync;
syncBuiltinESMExports();
