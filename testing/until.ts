/** Waiting for an observable fact. */

import { setTimeout as sleep } from "node:timers/promises";

/** What is neither null, undefined nor false once the fact can be observed. */
export type Attempt<T> = () => T | null | undefined | false | Promise<T | null | undefined | false>;

export interface Patience {
  /** Milliseconds after which it is given up: many times what it usually takes, and never a statement about speed. */
  readonly limitMs: number;
  /** Milliseconds between two attempts. */
  readonly pollMs: number;
}

/**
 * What `attempt` returns once that is neither null, undefined nor false. Rejects after the limit, naming what was waited
 * for; and at once with whatever `attempt` rejects with.
 */
export async function until<T>(what: string, attempt: Attempt<T>, { limitMs, pollMs }: Patience): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const result = await attempt();
    if (result !== null && result !== undefined && result !== false) {
      return result;
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`waited ${limitMs / 1000} s in vain for ${what}`);
    }
    await sleep(pollMs);
  }
}
