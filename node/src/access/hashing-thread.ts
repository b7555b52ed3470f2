/** The entry point of a worker thread that hashes passwords one after the other, and answers in that order. */

import { scryptSync } from "node:crypto";
import { parentPort } from "node:worker_threads";

export interface HashingRequest {
  readonly password: string;
  readonly salt: Uint8Array;
  readonly bytes: number;
  readonly options: { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number };
}

export type HashingReply =
  /** `processorMs` is the processor time of this thread for the hash, in milliseconds. */
  { readonly hash: Uint8Array; readonly processorMs: number } | { readonly problem: string };

const US_PER_MS = 1000;

const port = parentPort;
if (port === null) {
  throw new Error("hashing-thread.ts is the entry point of a worker thread");
}
port.on("message", ({ password, salt, bytes, options }: HashingRequest) => {
  const before = process.threadCpuUsage();
  let reply: HashingReply;
  try {
    const hash = new Uint8Array(scryptSync(password, salt, bytes, options));
    const { user, system } = process.threadCpuUsage(before);
    reply = { hash, processorMs: (user + system) / US_PER_MS };
  } catch (error) {
    reply = { problem: error instanceof Error ? error.message : String(error) };
  }
  port.postMessage(reply);
});
