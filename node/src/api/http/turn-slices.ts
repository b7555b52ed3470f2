/** Divides work that takes long into slices, each in a turn of the event loop, so that other requests have their turns. */

const SLICE_MS = 4;

export class TurnSlices {
  #endMs = performance.now() + SLICE_MS;

  /** Whether this turn has worked for its share of time. */
  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Resolves in a later turn, in which the next slice begins. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#endMs = performance.now() + SLICE_MS;
  }
}
