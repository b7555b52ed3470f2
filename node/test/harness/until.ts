import { setTimeout as sleep } from "node:timers/promises";
import { type Attempt, until as untilWithin } from "../../../testing/index.ts";

const POLL_MS = 20;
const POLL_MS_MAX = 250;
const LIMIT_MS = 60_000;

/**
 * The first result of `attempt` that is not null, undefined or false. Rejects after `limitMs` with an error that names
 * `what`.
 */
export function until<T>(what: string, attempt: Attempt<T>, limitMs = LIMIT_MS): Promise<T> {
  return untilWithin(what, attempt, { limitMs, pollMs: POLL_MS, pollMsMax: POLL_MS_MAX });
}

/** Lets a random time pass before a fault. Use it for nothing else: a test that waits for something uses `until`. */
export async function pause(ms: number): Promise<void> {
  await sleep(ms);
}
