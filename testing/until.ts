/** Waits for an observable fact. */

import { setTimeout as sleep } from "node:timers/promises";

/** Returns a value other than null, undefined and false as soon as the fact can be observed. */
export type Attempt<T> = () => T | null | undefined | false | Promise<T | null | undefined | false>;

export interface PollLimits {
  /** Milliseconds until `until` gives up: many times the usual duration, and never an assertion about speed. */
  readonly limitMs: number;
  /** Milliseconds between two attempts. */
  readonly pollMs: number;
  /**
   * By default each pause is `pollMs`. With this, pauses grow to a twentieth of the time waited so far, up to this many
   * milliseconds: a long wait costs little processor time, and takes at most 5 % longer.
   */
  readonly pollMsMax?: number;
}

const GROWN_SHARE = 0.05;

/**
 * Resolves to the first result of `attempt` that is not null, undefined or false. Rejects after the limit, with an
 * error that names `what`. If `attempt` rejects, `until` rejects at once with the same error.
 */
export async function until<T>(what: string, attempt: Attempt<T>, limits: PollLimits): Promise<T> {
  const { limitMs, pollMs, pollMsMax = pollMs } = limits;
  const startMs = performance.now();
  for (;;) {
    const result = await attempt();
    if (result !== null && result !== undefined && result !== false) {
      return result;
    }
    const waitedMs = performance.now() - startMs;
    if (waitedMs > limitMs) {
      throw new Error(`waited ${limitMs / 1000} s in vain for ${what}`);
    }
    await sleep(Math.min(Math.max(waitedMs * GROWN_SHARE, pollMs), pollMsMax));
  }
}
