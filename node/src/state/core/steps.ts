/**
 * Divisible work: a generator that yields where it may pause, and returns its result.
 *
 * An entry of a million events takes too long for one turn of the event loop (S44). Pauses do not change the result of
 * apply: nothing else is applied meanwhile, and no reader sees any of the entry before it is complete.
 */

export type Steps<Result> = Generator<void, Result, void>;

/** Items that a loop without reads and writes processes between two pauses: far less than a millisecond of work. */
export const STEP_ITEMS = 8_192;

/** Runs all steps at once, and returns the result. */
export function allAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
  }
}
