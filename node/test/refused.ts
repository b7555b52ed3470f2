/** Runs what must be refused, and gives the refusal back to be looked at. */

import { CoordinationError } from "../src/state/index.ts";

/**
 * The CoordinationError that the action throws, or that its promise rejects with. Fails if it succeeds; any other
 * error comes through.
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
