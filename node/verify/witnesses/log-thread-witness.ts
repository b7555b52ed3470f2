/**
 * Reports the disk operations of the log thread to its spec, and can make a write fail. The spec loads it into the
 * thread by `--import`, before the thread itself; the product never loads it.
 *
 * A crash of the process leaves the same files whether a write was synced or not, so the spec must observe the calls.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { RocksLevel } from "rocksdb";

/** Number of the batch that fails, from 1 on; 0 = none. */
const { failingBatch } = workerData as { readonly failingBatch: number };
let batches = 0;

function tell(what: string): void {
  parentPort?.postMessage({ kind: "seen", what });
}

const makeBatch = RocksLevel.prototype.batch;
RocksLevel.prototype.batch = function (this: RocksLevel) {
  const batch = makeBatch.call(this);
  const write = batch._writeSync;
  batch._writeSync = (options) => {
    batches++;
    tell(options.sync ? "synced batch" : "batch");
    if (batches === failingBatch) {
      throw new Error("the disk has failed");
    }
    write.call(batch, options);
  };
  return batch;
};

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

const { fdatasyncSync, writeSync } = fs;
fs.fdatasyncSync = (file) => {
  tell("synced mirror");
  fdatasyncSync(file);
};
fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
  tell("mirror");
  return writeSync(...args);
}) as typeof writeSync;
syncBuiltinESMExports();
