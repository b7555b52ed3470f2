/** When faults were in progress: only then may a call fail. */

interface Interval {
  readonly name: string;
  readonly fromMs: number;
  /** Infinity while it lasts. */
  toMs: number;
}

export class FaultTimes {
  readonly #intervals: Interval[] = [];

  /** A fault begins now, and lasts until the returned function is called. */
  begin(name: string): () => void {
    const interval = { name, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY };
    this.#intervals.push(interval);
    return () => {
      interval.toMs = performance.now();
    };
  }

  /** The fault that was in progress at some moment from then until now; null = none. */
  since(fromMs: number): string | null {
    return this.#intervals.findLast(({ toMs }) => toMs >= fromMs)?.name ?? null;
  }
}
