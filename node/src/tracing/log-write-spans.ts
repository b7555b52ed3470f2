/**
 * The spans of writes to the log. One write serves many proposals (group commit): it is a span in a trace of its own,
 * linked with the span that each kept trace has for it.
 */

import type { SpanLink, SpanParent } from "./span.ts";
import { type Span, spanOf } from "./span.ts";
import type { WriteTimes } from "./timeline.ts";
import { newSpanId, newTraceId } from "./trace-context.ts";

/** The writes whose ids are remembered. */
const WRITES_MAX = 1_024;
/** A write has as many links at most. */
const LINKS_MAX = 128;

interface GroupSpan extends Span {
  readonly links: SpanLink[];
}

export class LogWriteSpans {
  /** By the beginning of the write, which is unique in a process: only one is in progress at a time. */
  readonly #groups = new Map<number, GroupSpan>();
  /** Not taken yet: they may still get links. */
  #open: GroupSpan[] = [];

  /** The span of the write in the trace of one of its entries. Null unless the write is known and durable. */
  spanOf(write: WriteTimes | null, parent: SpanParent): Span | null {
    if (write === null || write.durableMs === 0) {
      return null;
    }
    const group = this.#groupOf(write);
    const entries = write.last - write.first + 1;
    const span = spanOf(parent, {
      name: "quoin.log.write",
      fromMs: write.begunMs,
      toMs: write.durableMs,
      attributes: { "quoin.log.entries": entries },
      links: [{ traceId: group.traceId, spanId: group.spanId }],
    });
    if (group.links.length < LINKS_MAX) {
      group.links.push({ traceId: span.traceId, spanId: span.spanId });
    }
    return span;
  }

  /** Returns the spans of the writes that were used since the last call. */
  take(): readonly Span[] {
    const taken = this.#open;
    this.#open = [];
    return taken;
  }

  #groupOf(write: WriteTimes): GroupSpan {
    let group = this.#groups.get(write.begunMs);
    if (group === undefined) {
      group = groupSpan(write);
      this.#groups.set(write.begunMs, group);
      this.#open.push(group);
      if (this.#groups.size > WRITES_MAX) {
        const [oldest] = this.#groups.keys();
        this.#groups.delete(oldest as number);
      }
    }
    return group;
  }
}

function groupSpan({ first, last, begunMs, durableMs, writeMs }: WriteTimes): GroupSpan {
  return {
    traceId: newTraceId(),
    spanId: newSpanId(),
    parentId: "",
    hasRemoteParent: false,
    state: "",
    name: "quoin.log.group_commit",
    kind: "internal",
    fromMs: begunMs,
    toMs: durableMs,
    attributes: {
      "quoin.log.entries": last - first + 1,
      "quoin.log.first_index": first,
      "quoin.log.last_index": last,
      "quoin.log.write_ms": writeMs,
    },
    events: [],
    links: [],
    error: "",
  };
}
