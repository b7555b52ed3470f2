/**
 * Divides long work into slices, each in its own turn of the event loop, so that other requests can run between them.
 */

const SLICE_MS = 4;

export class TurnSlices {
  #endMs = performance.now() + SLICE_MS;

  /** Whether this turn has used its time. */
  get hasEnded(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Resolves in a later turn; the next slice begins there. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#endMs = performance.now() + SLICE_MS;
  }
}
