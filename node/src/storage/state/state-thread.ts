/**
 * The state thread: performs all work on the state store that waits for the disk, one request after the other.
 *
 * It syncs the live state: a synced write of one marker row makes every earlier batch of the same write-ahead log
 * durable. It also writes, completes and places a received snapshot. A synced write blocks its thread for as long as
 * the disk takes, and a chunk of a snapshot for milliseconds, so the main thread must not do this. Each request has one
 * reply, in order.
 */

import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../../primitives/index.ts";
import { crashPoint, replaceFile, syncDirectory } from "../files/index.ts";
import { decodeChanges, Rocks } from "../rocks/index.ts";
import { fatalReply, type ThreadReply } from "../thread/index.ts";
import type { IncomingState } from "./incoming-state.ts";
import { SYNC_ROW } from "./local-rows.ts";
import type { SnapshotOrigin } from "./snapshot-origin.ts";
import { statePointerBeside, statePointerTo } from "./state-directory.ts";

export interface StateThreadData {
  readonly handle: bigint;
}

export type StateRequest =
  /** Makes the live state durable. */
  | { readonly kind: "sync"; readonly marker: Uint8Array }
  /** The store of this handle is the replacement from now on. */
  | { readonly kind: "attach"; readonly handle: bigint }
  /** Rows for the replacement. */
  | { readonly kind: "rows"; readonly changes: ArrayBuffer }
  | { readonly kind: "finish"; readonly installed: SnapshotOrigin }
  | { readonly kind: "place" }
  /** Makes the replacement the live state. After the reply the thread does not use the old one any more. */
  | { readonly kind: "switch" }
  /** Drops the replacement. After the reply the thread does not use its store any more. */
  | { readonly kind: "detach" }
  | { readonly kind: "close" };

export interface StateReply {
  readonly kind: "done";
}

const port = parentPort;
if (port === null) {
  throw new Error("state-thread.ts is the entry of a worker thread");
}
let live = await Rocks.attach((workerData as StateThreadData).handle);
let replacement: IncomingState | null = null;
let failed = false;
/** Attaching is asynchronous, so a chain of promises keeps the requests in order. */
let served: Promise<void> = Promise.resolve();

port.on("message", (request: StateRequest) => {
  served = served.then(() => serve(request));
});

async function serve(request: StateRequest): Promise<void> {
  if (request.kind === "close") {
    // The thread that opened the stores closes them.
    port?.close();
    return;
  }
  if (failed) {
    return;
  }
  try {
    await execute(request);
    reply({ kind: "done" });
  } catch (error) {
    failed = true;
    const fatal = fatalReply(error);
    // Damage in an incomplete replacement says nothing about the live state; the next start deletes the replacement.
    reply(request.kind === "sync" ? fatal : { ...fatal, errorKind: "io" });
  }
}

function reply(message: StateReply | ThreadReply): void {
  port?.postMessage(message);
}

async function execute(request: Exclude<StateRequest, { readonly kind: "close" }>): Promise<void> {
  switch (request.kind) {
    case "sync":
      crashPoint("state.sync.before");
      live.write([{ key: SYNC_ROW, value: request.marker }], true);
      crashPoint("state.sync.after");
      return;
    case "attach": {
      invariant(replacement === null, "one replacement of the state is under way at a time");
      // Only a snapshot needs this module. It imports the whole state machine, which would double the cost of a start.
      const incoming = await import("./incoming-state.ts");
      replacement = new incoming.IncomingState(await Rocks.attach(request.handle));
      return;
    }
    case "rows":
      crashPoint("install.rows.before");
      present().write(decodeChanges(request.changes));
      crashPoint("install.rows.after");
      return;
    case "finish":
      crashPoint("install.finish.before");
      present().finish(request.installed);
      // Make the name of the store's new directory durable.
      syncDirectory(dirname(present().rocks.directory));
      crashPoint("install.finish.after");
      return;
    case "place": {
      const { directory } = present().rocks;
      crashPoint("install.place.before");
      replaceFile(statePointerBeside(directory), statePointerTo(directory));
      crashPoint("install.place.after");
      return;
    }
    case "switch":
      live = present().rocks;
      replacement = null;
      return;
    case "detach":
      replacement = null;
      return;
  }
}

function present(): IncomingState {
  invariant(replacement !== null, "a replacement of the state is under way");
  return replacement;
}
