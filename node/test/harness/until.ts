import { setTimeout as sleep } from "node:timers/promises";
import { type Attempt, until as untilWithin } from "../../../testing/index.ts";

const POLL_MS = 20;
const LIMIT_MS = 60_000;

/** What `attempt` returns once it is neither null, undefined nor false; rejects after `limitMs`, naming what was missed. */
export function until<T>(what: string, attempt: Attempt<T>, limitMs = LIMIT_MS): Promise<T> {
  return untilWithin(what, attempt, { limitMs, pollMs: POLL_MS });
}

/** Lets a random time pass before a fault is made. For nothing else: a test that waits for something uses `until`. */
export async function pause(ms: number): Promise<void> {
  await sleep(ms);
}
