/**
 * Finds the times at which the cluster may have had no leader, from the acknowledged writes. Acknowledgements in quick
 * succession show that a leader has a quorum. A longer gap may have another cause, so the result errs towards too much
 * time.
 */

/** A span of time, in milliseconds of the recorder's clock. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Shorter than the time in which members notice a lost leader and elect another one; longer than a write takes. A
 * handover fits within it, and the time lost to one does not count.
 */
const GAP_MS_MIN = 200;
/** Between two heartbeats: the next leader continues from the cluster time in the last one. */
const HEARTBEAT_MS = 100;

/**
 * Spans in which there may have been no leader, in the order of time, without overlap.
 *
 * @param writesMs when writes were acknowledged, in rising order. Nothing is known before the first and after the last.
 * @param timeoutMs how long clients waited at most. The leader may have been lost by so much before its last
 * acknowledgement.
 */
export function leaderlessSpans(writesMs: readonly number[], timeoutMs: number): readonly Span[] {
  const spans: Span[] = [];
  let beforeMs = Number.NEGATIVE_INFINITY;
  for (const nextMs of [...writesMs, Number.POSITIVE_INFINITY]) {
    if (nextMs - beforeMs >= GAP_MS_MIN) {
      const fromMs = beforeMs - timeoutMs - HEARTBEAT_MS;
      const last = spans.at(-1);
      if (last !== undefined && fromMs <= last.toMs) {
        spans[spans.length - 1] = { fromMs: last.fromMs, toMs: nextMs };
      } else {
        spans.push({ fromMs, toMs: nextMs });
      }
    }
    beforeMs = nextMs;
  }
  return spans;
}
