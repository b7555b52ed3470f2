/** What specs wait for: a fact, or the error that an operation is to raise. */

import { QuoinError } from "../src/index.ts";

const pollMs = 2;

/** Many times what anything here takes, the start of a process included: never a statement about speed. */
const limitMs = 30_000;

/** What `attempt` returns once that is neither undefined nor false; rejects when it never is. */
export async function until<Result>(what: string, attempt: () => Result | undefined | false): Promise<Result> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    const result = attempt();
    if (result !== undefined && result !== false) return result;
    if (performance.now() > endMs) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** The QuoinError with which some work fails; rejects when it does not. */
export async function failure(work: Promise<unknown>): Promise<QuoinError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof QuoinError) return error;
    throw error;
  }
  throw new Error("the operation succeeded");
}
