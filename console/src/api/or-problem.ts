/** Calls whose failure a view shows, like their answer. */

import { ApiError } from "./api-error.ts";

/** The answer, or null with the words of its failure. */
export async function orProblem<Value>(
  answer: Promise<Value>,
): Promise<{ readonly value: Value | null; readonly problem: string }> {
  try {
    return { value: await answer, problem: "" };
  } catch (error) {
    if (!(error instanceof ApiError)) {
      throw error;
    }
    return { value: null, problem: error.message };
  }
}
