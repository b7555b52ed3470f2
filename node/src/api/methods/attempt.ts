/** Exceptions as values, for callbacks: above them nobody catches. */

/** What the function returns, or the error that it throws. */
export function attempt<Value>(produce: () => Value): Value | Error {
  try {
    return produce();
  } catch (error) {
    return toError(error);
  }
}

/** What was thrown, as an error: it may be anything. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`thrown: ${String(thrown)}`);
}
