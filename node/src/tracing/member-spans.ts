/**
 * Makes the spans of a kept trace from the times of its request and the timeline of this member.
 *
 *   server span of the call                       the member that got the call
 *   ├ quoin.propose                               from the queue to the outcome
 *   │ ├ quoin.queue
 *   │ ├ quoin.forward                             only at a follower: until it knows that the entry is committed
 *   │ │ └ quoin.lead                              the leader: from the arrival to the commit
 *   │ │   ├ quoin.log.write                       linked with the group commit
 *   │ │   ├ quoin.replicate                       until a quorum has the entry
 *   │ │   │ └ quoin.follow                        each other member: from the arrival to the acknowledgement
 *   │ │   │   └ quoin.log.write
 *   │ │   └ quoin.apply
 *   │ └ quoin.apply
 *   ├ quoin.lock.wait                             only for a request that waited for a lock
 *   └ quoin.read                                  only for a linearizable read: the read barrier
 *
 * A step that this member does not know, or does not know any more, has no span. Nothing here reads a clock.
 */

import type { LogWriteSpans } from "./log-write-spans.ts";
import type { RequestEnd, RequestTrace } from "./request-trace.ts";
import { type Attributes, below, type Span, type SpanEvent, type SpanParent, spanOf } from "./span.ts";
import type { Timeline } from "./timeline.ts";

/** The entry of a kept trace, and the span under which other members put theirs. */
export interface KeptEntry {
  readonly index: number;
  readonly term: number;
  readonly span: Span;
}

export interface MadeSpans {
  readonly spans: readonly Span[];
  /** The leader must add its spans below this one; null = this member leads, or the call has no entry. */
  readonly forwarded: (KeptEntry & { readonly leader: number }) | null;
  /** All other members must add their spans below this one; null = another member leads, or the call has no entry. */
  readonly replicated: KeptEntry | null;
}

export class MemberSpans {
  readonly #timeline: Timeline;
  readonly #writes: LogWriteSpans;

  constructor(timeline: Timeline, writes: LogWriteSpans) {
    this.#timeline = timeline;
    this.#writes = writes;
  }

  /** The spans of a request at the member that got it. */
  ofRequest(trace: RequestTrace, end: RequestEnd): MadeSpans {
    const { parent, traceId, startedMs, endedMs } = trace;
    const root = spanOf(
      { traceId, parentId: parent?.spanId ?? "", hasRemoteParent: parent !== null, state: parent?.state ?? "" },
      {
        name: end.name,
        kind: "server",
        fromMs: startedMs,
        toMs: endedMs,
        attributes: requestAttributes(trace, end),
        events: eventsOf(["request admitted", trace.admittedMs], ["request complete", trace.completeMs]),
        error: end.isError ? end.reason || String(end.code) : "",
      },
    );
    const spans = [root];
    if (trace.barrierMs > 0) {
      const events = eventsOf(["quorum confirmed", trace.confirmedMs]);
      const toMs = trace.readableMs || endedMs;
      spans.push(spanOf(below(root), { name: "quoin.read", fromMs: trace.barrierMs, toMs, events }));
    }
    if (trace.lockQueuedMs > 0) {
      const toMs = trace.decidedMs || endedMs;
      spans.push(spanOf(below(root), { name: "quoin.lock.wait", fromMs: trace.lockQueuedMs, toMs }));
    }
    if (trace.queuedMs === 0) {
      return { spans, forwarded: null, replicated: null };
    }
    return this.#ofProposal(trace, root, spans);
  }

  #ofProposal(trace: RequestTrace, root: Span, spans: Span[]): MadeSpans {
    const { queuedMs, handedOutMs, endedMs, index, term, leader, attempts } = trace;
    const toMs = trace.lockQueuedMs || trace.decidedMs || endedMs;
    const propose = spanOf(below(root), {
      name: "quoin.propose",
      fromMs: queuedMs,
      toMs,
      attributes: { "quoin.index": index, "quoin.term": term, "quoin.attempts": attempts },
    });
    const queue = spanOf(below(propose), { name: "quoin.queue", fromMs: queuedMs, toMs: handedOutMs || toMs });
    spans.push(propose, queue);
    if (handedOutMs === 0) {
      return { spans, forwarded: null, replicated: null };
    }
    if (leader === 0) {
      const { spans: leading, replicate } = this.#ofLeader(index, below(propose), toMs);
      spans.push(...leading);
      return { spans, forwarded: null, replicated: replicate === null ? null : { index, term, span: replicate } };
    }
    const forward = spanOf(below(propose), {
      name: "quoin.forward",
      kind: "client",
      fromMs: handedOutMs,
      toMs: this.#timeline.committedMs(index) || toMs,
      attributes: { "quoin.leader": leader },
      events: eventsOf(["appended by the leader", trace.reportedMs]),
    });
    spans.push(forward, ...this.#ofApply(index, below(propose)));
    return { spans, forwarded: index === 0 ? null : { index, term, span: forward, leader }, replicated: null };
  }

  /** The spans of a forwarded entry at its leader. Null if this member has not appended it, or does not know any more. */
  ofForwarded(index: number, term: number, parent: SpanParent): MadeSpans | null {
    const appended = this.#timeline.appended(index);
    if (appended === null || appended.term !== term) {
      return null;
    }
    const committedMs = this.#timeline.committedMs(index);
    const lead = spanOf(parent, {
      name: "quoin.lead",
      kind: "server",
      fromMs: appended.arrivedMs,
      toMs: committedMs || appended.atMs,
      attributes: { "quoin.index": index, "quoin.term": term, "quoin.forwarded_by": appended.source },
      events: eventsOf(["appended", appended.atMs]),
    });
    const { spans, replicate } = this.#ofLeader(index, below(lead), appended.atMs);
    const replicated = replicate === null ? null : { index, term, span: replicate };
    return { spans: [lead, ...spans], forwarded: null, replicated };
  }

  /** The spans of an entry at a member that has received it from its leader; null as above. */
  ofReplicated(index: number, parent: SpanParent): readonly Span[] | null {
    const received = this.#timeline.received(index);
    if (received === null) {
      return null;
    }
    const write = this.#timeline.written(index);
    const follow = spanOf(parent, {
      name: "quoin.follow",
      kind: "server",
      fromMs: received.atMs,
      toMs: write?.durableMs || received.atMs,
      attributes: { "quoin.index": index, "quoin.leader": received.source },
    });
    const written = this.#writes.spanOf(write, below(follow));
    return written === null ? [follow] : [follow, written];
  }

  /** @param lastMs the last time that is known of the entry, if it is not committed. */
  #ofLeader(index: number, parent: SpanParent, lastMs: number) {
    const appended = this.#timeline.appended(index);
    if (appended === null) {
      return { spans: [], replicate: null };
    }
    const committedMs = this.#timeline.committedMs(index);
    // An earlier time is of another entry, which had this index in an earlier term.
    const acknowledged = this.#timeline.acknowledgedMs(index).filter(([, atMs]) => atMs >= appended.atMs);
    const replicate = spanOf(parent, {
      name: "quoin.replicate",
      kind: "client",
      fromMs: appended.atMs,
      toMs: committedMs || lastMs,
      events: acknowledged.map(([member, atMs]) => {
        return { name: "acknowledged", atMs, attributes: { "quoin.member_id": member } };
      }),
      error: committedMs === 0 ? "not committed yet" : "",
    });
    const written = this.#writes.spanOf(this.#timeline.written(index), parent);
    const spans = [...(written === null ? [] : [written]), replicate, ...this.#ofApply(index, parent)];
    return { spans, replicate };
  }

  #ofApply(index: number, parent: SpanParent): readonly Span[] {
    const fromMs = this.#timeline.applicableMs(index);
    const toMs = this.#timeline.appliedMs(index);
    return fromMs === 0 || toMs === 0 ? [] : [spanOf(parent, { name: "quoin.apply", fromMs, toMs })];
  }
}

const RPC_SYSTEMS = { grpc: "grpc", connect: "connect_rpc" };

/** Events at the known times. */
function eventsOf(...events: readonly (readonly [name: string, atMs: number])[]): readonly SpanEvent[] {
  return events.flatMap(([name, atMs]) => (atMs === 0 ? [] : [{ name, atMs, attributes: {} }]));
}

/**
 * The names of the attributes follow the semantic conventions of OpenTelemetry. Never a key, a value, a user or anything else
 * of the content of a request.
 */
function requestAttributes({ namespace }: RequestTrace, end: RequestEnd): Attributes {
  const [service = "", method = ""] = end.name.split("/");
  const [httpMethod = "", route = ""] = end.name.split(" ");
  return {
    ...(end.protocol !== "http"
      ? {
          "rpc.system": RPC_SYSTEMS[end.protocol],
          "rpc.service": service,
          "rpc.method": method,
          "rpc.grpc.status_code": end.code,
        }
      : { "http.request.method": httpMethod, "http.route": route, "http.response.status_code": end.code }),
    ...(namespace === null ? {} : { "quoin.namespace": namespace }),
    ...(end.reason === "" ? {} : { "quoin.reason": end.reason }),
    ...(end.requestId === null ? {} : { "quoin.request_id": end.requestId }),
  };
}
