/** Waits of specs: for a fact, or for the error that an operation must raise. */

import { QuoinError } from "../src/index.ts";

const POLL_MS = 2;

/** Many times what any wait here needs, including the start of a process: never a statement about speed. */
const LIMIT_MS = 30_000;

/** The result of `attempt` once it is neither undefined nor false; rejects after the limit. */
export async function until<Result>(what: string, attempt: () => Result | undefined | false): Promise<Result> {
  const endMs = performance.now() + LIMIT_MS;
  for (;;) {
    const result = attempt();
    if (result !== undefined && result !== false) {
      return result;
    }
    if (performance.now() > endMs) {
      throw new Error(`waited in vain for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The QuoinError of failing work; rejects if the work succeeds. */
export async function failure(work: Promise<unknown>): Promise<QuoinError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof QuoinError) {
      return error;
    }
    throw error;
  }
  throw new Error("the operation succeeded");
}
