/** Runs an action that must be refused, and returns the refusal. */

import { CoordinationError } from "../src/state/index.ts";

/**
 * The CoordinationError that the action throws, or that its promise rejects with. Fails if the action succeeds; passes
 * any other error through.
 */
export async function refused(action: () => unknown): Promise<CoordinationError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof CoordinationError) {
      return error;
    }
    throw error;
  }
  throw new Error("was not refused");
}
