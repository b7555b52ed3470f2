/**
 * Durations, counted into Prometheus buckets.
 *
 * Adding a duration costs an addition and a few comparisons and allocates nothing, so it is cheap enough for every
 * request. A collector reads the numbers.
 */

const MS_PER_SECOND = 1000;

/** Upper bounds of buckets in seconds, ascending. */
export type Bounds = readonly number[];

/** For disk operations and turns of the event loop: from 50 µs to ten seconds. */
export const SHORT_BOUNDS: Bounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];
/** For requests: from half a millisecond to one minute, near the longest deadlines. */
export const REQUEST_BOUNDS: Bounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
/** For waits of people and for whole copies: from ten milliseconds to an hour. */
export const LONG_BOUNDS: Bounds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600];

export class DurationHistogram {
  readonly bounds: Bounds;
  /**
   * Number of durations in each bucket: at most its bound, and longer than the bound before it. The last is beyond all
   * bounds.
   */
  readonly counts: number[];
  /** Sum of all durations, in seconds. */
  sumSeconds = 0;

  constructor(bounds: Bounds) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** Adds one duration, in milliseconds. */
  addMs(durationMs: number): void {
    const seconds = durationMs / MS_PER_SECOND;
    let bucket = 0;
    while (bucket < this.bounds.length && seconds > (this.bounds[bucket] as number)) {
      bucket++;
    }
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumSeconds += seconds;
  }

  /** The number of durations. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }
}
