/**
 * Work that can be divided: a generator that yields wherever it may pause, and returns its result.
 *
 * An entry of a million events takes too long for one turn of the event loop (S44). Where apply pauses changes nothing of
 * what it does: nothing else is applied meanwhile, and nothing of the entry can be read before it is complete.
 */

export type Steps<Result> = Generator<void, Result, void>;

/** Items that a loop without reads and writes handles between two pauses: far less than a millisecond of work. */
export const STEP_ITEMS = 8_192;

/** Takes all steps in one go, and returns the result. */
export function allAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) {
      return value;
    }
  }
}
