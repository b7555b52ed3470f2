/**
 * The calls of a load, by kind. It keeps only the times that the summary needs: the memory of the clients is sampled as
 * well, and must not grow by what the benchmark keeps.
 */

import type { CallTime } from "./pace/index.ts";

/** The calls of one kind. */
export interface KindTotals {
  count: number;
  /** Attempts that failed. */
  failed: number;
  /** The longest call, in milliseconds. */
  maxMs: number;
  /** The times of calls without a fault in the second sixth of the load and in the last one, in milliseconds. */
  readonly sixths: readonly [second: number[], last: number[]];
}

const SIXTHS = 6;
const SECOND = 1;
const MS_PER_SECOND = 1_000;

export class CallTotals {
  readonly byKind = new Map<string, KindTotals>();
  readonly #seconds: number;

  /** @param seconds how long the load takes. */
  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** @param startMs when the load began. */
  add({ kind, answeredMs, tookMs, failed, isDisturbed }: CallTime, startMs: number): void {
    const totals = this.byKind.get(kind) ?? { count: 0, failed: 0, maxMs: 0, sixths: [[], []] };
    totals.count++;
    totals.failed += failed;
    totals.maxMs = Math.max(totals.maxMs, tookMs);
    const sixth = comparedSixth((answeredMs - startMs) / MS_PER_SECOND, this.#seconds);
    if (!isDisturbed && sixth !== null) {
      totals.sixths[sixth].push(tookMs);
    }
    this.byKind.set(kind, totals);
  }
}

/** 0 in the second sixth of so many seconds, 1 in the last one, null in the others. */
export function comparedSixth(atSeconds: number, seconds: number): 0 | 1 | null {
  const sixth = Math.floor((atSeconds / seconds) * SIXTHS);
  return sixth === SECOND ? 0 : sixth === SIXTHS - 1 ? 1 : null;
}

/** From the middle of the second sixth to that of the last one. */
export function hoursBetween(seconds: number): number {
  return (seconds * (SIXTHS - 1 - SECOND)) / SIXTHS / 3_600;
}
