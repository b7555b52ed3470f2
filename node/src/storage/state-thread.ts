/**
 * The state thread: makes the state store durable up to now, on request.
 *
 * A synced write of one marker row makes every earlier batch of the same write-ahead log durable with it. It runs here
 * because a synced write blocks its thread for as long as the disk takes.
 */

import { parentPort, workerData } from "node:worker_threads";
import { crashPoint } from "./crash-point.ts";
import { Rocks } from "./rocks.ts";
import type { ThreadReply } from "./store-thread.ts";

export interface StateThreadData {
  readonly handle: bigint;
}

export type StateRequest = { readonly kind: "sync"; readonly marker: Uint8Array } | { readonly kind: "close" };
export interface StateReply {
  readonly kind: "synced";
}

/** The row of the marker; its value only has to change. */
const SYNC_ROW = new Uint8Array([0x79]); // y

const port = parentPort;
if (port === null) {
  throw new Error("state-thread.ts is the entry of a worker thread");
}
const rocks = await Rocks.attach((workerData as StateThreadData).handle);
let failed = false;

port.on("message", (request: StateRequest) => {
  const reply = (message: StateReply | ThreadReply): void => port.postMessage(message);
  if (request.kind === "close") {
    // The store itself is closed by the thread that opened it.
    port.close();
    return;
  }
  if (failed) {
    return;
  }
  try {
    crashPoint("state.sync.before");
    rocks.write([{ key: SYNC_ROW, value: request.marker }], true);
    crashPoint("state.sync.after");
    reply({ kind: "synced" });
  } catch (error) {
    failed = true;
    reply({ kind: "fatal", message: error instanceof Error ? error.message : String(error) });
  }
});
