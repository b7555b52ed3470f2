/**
 * When the log was committed how far: tells for how long a member has been behind.
 *
 * Samples are taken at ticks and thinned out as they age, so that their number stays small; a lag is exact to a tick
 * while it is short, and to a tenth of itself when it is long.
 */

interface Sample {
  readonly index: number;
  readonly atMs: number;
}

/** When there are more samples, every second one of the older half goes. */
const SAMPLES_MAX = 128;

export class CommitTimes {
  /** Ascending by index; entries after one sample and up to the next were committed between their times. */
  #samples: Sample[] = [];

  /** Everything up to the index is committed now. */
  observe(index: number, nowMs: number): void {
    if (index <= (this.#samples.at(-1)?.index ?? 0)) {
      return;
    }
    this.#samples.push({ index, atMs: nowMs });
    if (this.#samples.length > SAMPLES_MAX) {
      this.#samples = this.#samples.filter((_, at) => at >= SAMPLES_MAX / 2 || at % 2 === 0);
    }
  }

  /** For how long something has been committed that a member that holds everything up to the index lacks, in ms. */
  lagMs(index: number, nowMs: number): number {
    const missing = this.#samples.find((sample) => sample.index > index);
    return missing === undefined ? 0 : Math.max(0, Math.round(nowMs - missing.atMs));
  }

  /** What another leader had committed is not known by time. */
  clear(): void {
    this.#samples = [];
  }
}
