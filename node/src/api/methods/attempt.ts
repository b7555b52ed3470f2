/** Exceptions as values, for callbacks: no caller above a callback catches an exception. */

/** Returns the value of the function, or the error that it throws. */
export function attempt<Value>(produce: () => Value): Value | Error {
  try {
    return produce();
  } catch (error) {
    return toError(error);
  }
}

/** Returns a thrown value as an Error; code can throw any value. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`thrown: ${String(thrown)}`);
}
