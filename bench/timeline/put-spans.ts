/** The spans of many puts, as members have exported them, and searches in them. */

import type { CollectedSpan } from "../../testing/index.ts";

/** A required span of a put is missing, or out of order. */
export class TimelineError extends Error {}

/** A span of a member, with times in nanoseconds since the client's time origin. */
interface MemberSpan extends Pick<CollectedSpan, "traceId" | "spanId" | "name" | "attributes" | "links"> {
  readonly member: string;
  readonly fromNs: number;
  readonly toNs: number;
  readonly events: readonly SpanEvent[];
}

interface SpanEvent extends Pick<CollectedSpan["events"][number], "name" | "attributes"> {
  readonly atNs: number;
}

/** The write of an entry to the log of a member. */
interface LogWrite {
  /** The main thread passes it to the log thread. */
  readonly fromNs: number;
  /** The main thread knows that it is durable. */
  readonly toNs: number;
  /** The part of it in the log thread, in nanoseconds. */
  readonly writeNs: number;
  /** The end of the write before it; 0 = none is known. */
  readonly previousNs: number;
}

const NS_PER_MS = 1e6;

export class PutSpans {
  readonly #requestId: string;
  readonly #root: MemberSpan;
  readonly #spans: readonly MemberSpan[];
  readonly #traces: CollectedTraces;

  constructor(requestId: string, root: MemberSpan, spans: readonly MemberSpan[], traces: CollectedTraces) {
    this.#requestId = requestId;
    this.#root = root;
    this.#spans = spans;
    this.#traces = traces;
  }

  /** The span of the call, at the member that got it. */
  get root(): MemberSpan {
    return this.#root;
  }

  /** The span with the name, of a member or of any. Raises a TimelineError if there is none. */
  span(name: string, member?: string): MemberSpan {
    const found = this.#spans.find((span) => span.name === name && (member ?? span.member) === span.member);
    return found ?? this.#missing(member === undefined ? name : `${name} of ${member}`);
  }

  /** The time of an event of a span. Raises a TimelineError if there is none. */
  eventNs({ events, name: span }: MemberSpan, name: string): number {
    return events.find((event) => event.name === name)?.atNs ?? this.#missing(`event ${name} of ${span}`);
  }

  /** The followers that have acknowledged the entry, and when. Raises a TimelineError if the name of one is not known. */
  acknowledgements({ events }: MemberSpan): readonly { readonly member: string; readonly atNs: number }[] {
    return events.map(({ atNs, attributes }) => {
      const id = Number(attributes["quoin.member_id"]);
      return { member: this.#traces.nameOf(id) ?? this.#missing(`span that names member ${id}`), atNs };
    });
  }

  /** The write of the entry to the log of a member. Raises a TimelineError if there is none. */
  write(member: string): LogWrite {
    const { links } = this.span("quoin.log.write", member);
    return this.#traces.writeOf(links[0]?.spanId ?? "") ?? this.#missing(`quoin.log.group_commit of ${member}`);
  }

  #missing(what: string): never {
    throw new TimelineError(`put ${this.#requestId} has no ${what}`);
  }
}

export class CollectedTraces {
  readonly #byRequest = new Map<string, PutSpans>();
  /** By the id of the span of the group commit. */
  readonly #writes = new Map<string, LogWrite>();
  readonly #namesById = new Map<number, string>();

  /** @param originNs the client's time origin, in nanoseconds of the wall clock. */
  constructor(collected: readonly CollectedSpan[], originNs: bigint) {
    const spans = collected.map((span) => memberSpan(span, originNs));
    for (const ofTrace of Map.groupBy(spans, ({ traceId }) => traceId).values()) {
      const root = ofTrace.find(({ attributes }) => "quoin.request_id" in attributes);
      if (root !== undefined) {
        const requestId = String(root.attributes["quoin.request_id"]);
        this.#byRequest.set(requestId, new PutSpans(requestId, root, ofTrace, this));
        const lead = ofTrace.find(({ name }) => name === "quoin.lead");
        this.#namesById.set(Number(lead?.attributes["quoin.forwarded_by"]), root.member);
      }
    }
    const writes = spans.filter(({ name }) => name === "quoin.log.group_commit");
    for (const ofMember of Map.groupBy(writes, ({ member }) => member).values()) {
      let previousNs = 0;
      for (const { spanId, fromNs, toNs, attributes } of ofMember.toSorted((one, other) => one.fromNs - other.fromNs)) {
        const writeNs = Number(attributes["quoin.log.write_ms"]) * NS_PER_MS;
        this.#writes.set(spanId, { fromNs, toNs, writeNs, previousNs });
        previousNs = toNs;
      }
    }
  }

  /** The spans of a put. Raises a TimelineError if there are none. */
  put(requestId: string): PutSpans {
    const put = this.#byRequest.get(requestId);
    if (put === undefined) {
      throw new TimelineError(`put ${requestId} has no trace`);
    }
    return put;
  }

  writeOf(groupCommit: string): LogWrite | null {
    return this.#writes.get(groupCommit) ?? null;
  }

  /** The name of a follower; only a member that has forwarded a put is known. */
  nameOf(memberId: number): string | null {
    return this.#namesById.get(memberId) ?? null;
  }
}

function memberSpan(span: CollectedSpan, originNs: bigint): MemberSpan {
  const since = (ns: bigint): number => Number(ns - originNs);
  const { traceId, spanId, name, attributes, links, resource, fromNs, toNs, events } = span;
  return {
    traceId,
    spanId,
    name,
    attributes,
    links,
    member: String(resource["quoin.member"]),
    fromNs: since(fromNs),
    toNs: since(toNs),
    events: events.map((event) => ({ name: event.name, attributes: event.attributes, atNs: since(event.atNs) })),
  };
}
