/**
 * How long something took, counted into buckets as Prometheus has them.
 *
 * To count costs an addition and a few comparisons and allocates nothing, so that it may stand where every request
 * passes. Whoever collects reads the numbers.
 */

const MS_PER_SECOND = 1000;

/** Upper bounds of buckets in seconds, ascending. */
export type Bounds = readonly number[];

/** For what a disk or a turn of the event loop takes: from 50 µs to ten seconds. */
export const SHORT_BOUNDS: Bounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];
/** For requests: from half a millisecond to the minute at which the longest deadlines lie. */
export const REQUEST_BOUNDS: Bounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
/** For what people or whole copies wait for: from ten milliseconds to an hour. */
export const LONG_BOUNDS: Bounds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600];

export class Durations {
  readonly bounds: Bounds;
  /** How many were at most as long as the bound and longer than the one before it; the last are beyond all bounds. */
  readonly counts: number[];
  /** Of all, in seconds. */
  sumSeconds = 0;

  constructor(bounds: Bounds) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** Counts one, in milliseconds. */
  addMs(durationMs: number): void {
    const seconds = durationMs / MS_PER_SECOND;
    let bucket = 0;
    while (bucket < this.bounds.length && seconds > (this.bounds[bucket] as number)) {
      bucket++;
    }
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumSeconds += seconds;
  }

  /** How many there were. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }
}
