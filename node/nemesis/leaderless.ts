/**
 * When nobody may have led, told by the writes that were acknowledged: as long as they come closely one after the other,
 * somebody leads and has a majority. What is between them otherwise may have another cause, so this is too much rather
 * than too little.
 */

/** A span of time, in milliseconds of the recorder's clock. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Below what anybody needs to find out that a leader is gone and to follow it, and above what a write takes. A leader
 * that hands over is followed within it, and time that is lost then does not count.
 */
const GAP_MS_MIN = 200;
/**
 * A leader is lost before its last acknowledgement comes, by as long as clients of these loads wait at most, and the
 * next one goes on from what its last heartbeat said.
 */
const CLIENT_TIMEOUT_MS = 200;
const HEARTBEAT_MS = 100;

/**
 * Spans in which nobody may have led, in the order of time and apart from each other.
 *
 * @param writesMs when writes were acknowledged, in rising order. Nothing is known before the first and after the last.
 */
export function leaderlessSpans(writesMs: readonly number[]): readonly Span[] {
  const spans: Span[] = [];
  let beforeMs = Number.NEGATIVE_INFINITY;
  for (const nextMs of [...writesMs, Number.POSITIVE_INFINITY]) {
    if (nextMs - beforeMs >= GAP_MS_MIN) {
      const fromMs = beforeMs - CLIENT_TIMEOUT_MS - HEARTBEAT_MS;
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
