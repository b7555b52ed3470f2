/** The number of attempts of an operation, and the pauses between them. */

import type { QuoinError } from "../errors/index.ts";

/**
 * Attempts of one operation that reach a member, including the first one: enough for a change of leader, few enough not
 * to worsen an overload.
 */
export const ATTEMPTS_MAX = 4;

const FIRST_PAUSE_MS = 50;
const PAUSE_MS_MAX = 1_000;

/**
 * Whether an attempt reached no member: there was no connection, or no name had an address. Such attempts load no
 * member and do not count, because a Service may have no endpoint for a while.
 */
export function isUnreached({ code, reason, outcome }: QuoinError): boolean {
  return code === "UNAVAILABLE" && reason === "" && outcome === "not-executed";
}

/**
 * The pause after an attempt that reached no member: like `backoffMs`, but at least half of the maximum, so that no
 * client retries in a tight loop.
 *
 * @param attempt the attempt that failed, from 1.
 * @param random at least 0 and less than 1.
 * @returns milliseconds.
 */
export function unreachedPauseMs(attempt: number, random: number): number {
  return backoffMs(attempt, 0.5 + random / 2);
}

/**
 * The pause after a failed attempt: exponential from 50 ms, capped at 1 s, with full jitter, so that clients that fail
 * together do not retry together.
 *
 * @param attempt the attempt that failed, from 1.
 * @param random at least 0 and less than 1.
 * @returns milliseconds.
 */
export function backoffMs(attempt: number, random: number): number {
  return random * Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** (attempt - 1));
}
