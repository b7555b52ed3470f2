/**
 * Samples of the commit index over time. They show for how long a member has been behind.
 *
 * Samples are taken at ticks and thinned out as they age, so that there are few. A short lag is exact to one tick, a
 * long one to a tenth of itself.
 */

interface Sample {
  readonly index: number;
  readonly atMs: number;
}

/** When there are more samples, every second one of the older half is dropped. */
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

  /**
   * Age in milliseconds of the oldest commit after the index: how long a member that has only the index has been
   * behind.
   */
  lagMs(index: number, nowMs: number): number {
    const missing = this.#samples.find((sample) => sample.index > index);
    return missing === undefined ? 0 : Math.max(0, Math.round(nowMs - missing.atMs));
  }

  /** Forgets all samples: the commit times of another leader are not known. */
  clear(): void {
    this.#samples = [];
  }
}
