/**
 * `node bench/members/puts-process.ts`: puts at a steady rate, in a process of its own, so that other work of the
 * benchmark does not delay them. The target comes as a line of JSON by standard input, because it has a token. Prints a
 * line for each put: when it was due in milliseconds since 1970, how long it took from then on, and whether it failed.
 * Ends with its standard input.
 */

import { createInterface } from "node:readline";
import { createClient } from "@quoin/client";
import type { PutsTarget } from "./steady-puts.ts";

const KEYS = 100;

const lines = createInterface({ input: process.stdin });
lines.once("close", () => process.exit());
const [line] = await new Promise<readonly [string]>((resolve) => lines.once("line", (text) => resolve([text])));
const { endpoints, namespace, token, intervalMs }: PutsTarget = JSON.parse(line);
const { keyValue } = createClient({ endpoints, credentials: { token } });
let next = 0;

async function putOnce(dueMs: number): Promise<void> {
  let failed = 0;
  try {
    await keyValue.put(namespace, `key-${next++ % KEYS}`, "value");
  } catch {
    failed = 1;
  }
  const atMs = performance.timeOrigin + dueMs;
  process.stdout.write(`${atMs.toFixed(2)} ${(performance.now() - dueMs).toFixed(2)} ${failed}\n`);
}

/** Makes the puts that are due at this time, and all later ones; the timer may be late, and so several may be due. */
function schedule(dueMs: number): void {
  let nextMs = dueMs;
  for (; nextMs <= performance.now(); nextMs += intervalMs) {
    void putOnce(nextMs);
  }
  setTimeout(() => schedule(nextMs), Math.max(0, nextMs - performance.now()));
}

schedule(performance.now());
