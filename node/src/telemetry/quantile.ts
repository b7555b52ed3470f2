/** Quantiles of durations that were counted into buckets. */

import type { Bounds } from "./duration-histogram.ts";

/**
 * An estimate of the quantile, in seconds: within its bucket, durations count as evenly spread. Durations beyond all
 * bounds count as the greatest bound. 0 if nothing was counted.
 *
 * @param counts durations in each bucket; the last is beyond all bounds.
 * @param quantile from 0 to 1, such as 0.99.
 */
export function quantileSeconds(bounds: Bounds, counts: readonly number[], quantile: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) {
    return 0;
  }
  let rank = quantile * total;
  let lower = 0;
  for (let bucket = 0; bucket < bounds.length; bucket++) {
    const upper = bounds[bucket] as number;
    const count = counts[bucket] as number;
    if (count > 0 && rank <= count) {
      return lower + (upper - lower) * (rank / count);
    }
    rank -= count;
    lower = upper;
  }
  return lower;
}
