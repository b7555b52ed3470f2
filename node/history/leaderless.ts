/**
 * When nobody may have led, told by the writes that were acknowledged: as long as they come closely one after the other,
 * somebody leads and has a majority. What is between them otherwise may have another cause, so this is too much rather
 * than too little.
 */

/** A span of time, in milliseconds of the recorder's clock. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Below what anybody needs to find out that a leader is gone and to follow it, and above what a write takes. A leader
 * that hands over is followed within it, and time that is lost then does not count.
 */
const GAP_MS_MIN = 200;
/** Between two heartbeats: whoever leads next goes on with the time that the last one told. */
const HEARTBEAT_MS = 100;

/**
 * Spans in which nobody may have led, in the order of time and apart from each other.
 *
 * @param writesMs when writes were acknowledged, in rising order. Nothing is known before the first and after the last.
 * @param timeoutMs how long clients waited at most: a leader may have been lost so much earlier than its last
 *   acknowledgement came.
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
