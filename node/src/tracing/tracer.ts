/**
 * Keeps traces of requests: those that are sampled when they begin, and those that turn out to be slow.
 *
 * A request in progress has only times (`request-trace.ts`), and the driver notes its steps for all entries at once
 * (`timeline.ts`). When the request is over and its trace is kept, this member makes its spans on a timer, and asks the
 * other members that took part for theirs. So no request waits for its trace, and a trace that is not kept costs a few
 * numbers. Whatever cannot be done in time is dropped and counted.
 */

import type { KeptTrace } from "../peers/index.ts";
import { LogWriteSpans } from "./log-write-spans.ts";
import { type KeptEntry, type MadeSpans, MemberSpans } from "./member-spans.ts";
import { type RequestEnd, RequestTrace } from "./request-trace.ts";
import { Sampler, type SamplerOptions } from "./sampler.ts";
import { belowRemote, type Span, type SpanParent } from "./span.ts";
import type { SpanQueue } from "./span-queue.ts";
import { Timeline } from "./timeline.ts";
import { traceContextOf } from "./trace-context.ts";

export interface TracerOptions {
  readonly sampler: SamplerOptions;
  /** Requests that take at least this many milliseconds are kept, sampled or not; 0 = none for that reason. */
  readonly slowMs: number;
  readonly queue: Pick<SpanQueue, "hasSpace" | "add">;
  /** Milliseconds that never decrease, with fractions. */
  readonly monotonicMs: () => number;
}

/** The other members. */
export interface TracePeers {
  /** Sends the trace to the member, or to all others (null). It may be lost. */
  sendKeptTrace(peer: number | null, kept: KeptTrace): void;
}

/** The headers of a request, in the order of their arrival. */
interface Headers {
  values(name: string): readonly string[];
}

/** A kept trace of another member, or of a request of this one, whose spans are due. */
type Due = { readonly dueMs: number } & (
  | { readonly trace: RequestTrace; readonly end: RequestEnd }
  | { readonly kept: KeptTrace }
);

/** Interval of making spans, in milliseconds. */
export const TRACE_INTERVAL_MS = 100;
/** Spans are made this long after the end of the request: by then the member has taken its last steps. */
const DELAY_MS = 100;
/** Traces that wait for that at most. */
const DUE_MAX = 1_024;
/** After so many spans the rest waits for the next round, so that no request waits for long. The exporter takes as many. */
const SPANS_PER_ROUND = 512;
/** When all requests are slow, a few traces show the reason. */
const SLOW_PER_SECOND_MAX = 20;
const MS_PER_SECOND = 1_000;

export class Tracer {
  readonly timeline = new Timeline();
  /** Traces that were kept, by reason. */
  readonly kept = { sampled: 0, slow: 0 };
  /** Kept traces without spans of this member, because too many were slow, or too many spans waited. */
  dropped = 0;
  readonly #options: TracerOptions;
  readonly #sampler: Sampler;
  readonly #writes = new LogWriteSpans();
  readonly #spans = new MemberSpans(this.timeline, this.#writes);
  #peers: TracePeers | null = null;
  #due: Due[] = [];
  /** Start of the second in which slow traces are counted. */
  #secondMs = Number.NEGATIVE_INFINITY;
  #slowInSecond = 0;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#sampler = new Sampler(options.sampler);
  }

  /** Sets how to reach the other members. */
  connect(peers: TracePeers): void {
    this.#peers = peers;
  }

  /** A request begins. Returns null if its trace will certainly not be kept. */
  begin(headers: Headers, startedMs: number): RequestTrace | null {
    const traceparents = headers.values("traceparent");
    const parent = traceparents.length === 0 ? null : traceContextOf(traceparents, () => headers.values("tracestate"));
    const isSampled = this.#sampler.isSampled(parent);
    return isSampled || this.#options.slowMs > 0 ? new RequestTrace(parent, isSampled, startedMs) : null;
  }

  /**
   * A request has ended. Returns whether its trace is kept.
   *
   * @param mayWait whether the client decides how long it takes, so that it is never slow.
   * @param describe called only if the trace is kept.
   */
  end(trace: RequestTrace, endedMs: number, mayWait: boolean, describe: () => RequestEnd): boolean {
    trace.endedMs = endedMs;
    const isSlow = !mayWait && this.#options.slowMs > 0 && trace.busyMs >= this.#options.slowMs;
    if (!trace.isSampled && !(isSlow && this.#allowsSlow(endedMs))) {
      return false;
    }
    trace.isKept = true;
    this.kept[trace.isSampled ? "sampled" : "slow"]++;
    return this.#push({ dueMs: endedMs + DELAY_MS, trace, end: describe() });
  }

  /** Another member has kept a trace of an entry. */
  onKeptTrace(kept: KeptTrace): void {
    this.#push({ dueMs: this.#options.monotonicMs() + DELAY_MS, kept });
  }

  /** Makes the spans that are due. Call it every TRACE_INTERVAL_MS, and with `isLast` when the member stops. */
  makeSpans(isLast = false): void {
    const { queue, monotonicMs } = this.#options;
    // Made in the last round: since then they could get links.
    queue.add(this.#writes.take());
    const nowMs = monotonicMs();
    let done = 0;
    let spans = 0;
    for (const due of this.#due) {
      if (!isLast && (due.dueMs > nowMs || spans >= SPANS_PER_ROUND)) {
        break;
      }
      done++;
      if (!queue.hasSpace) {
        this.dropped++;
        continue;
      }
      const made = "kept" in due ? this.#madeFor(due.kept) : this.#spans.ofRequest(due.trace, due.end);
      if (made !== null) {
        spans += made.spans.length;
        queue.add(made.spans);
        this.#askOthers(made);
      }
    }
    this.#due.splice(0, done);
    if (isLast) {
      queue.add(this.#writes.take());
    }
  }

  #madeFor({ part, index, term, ...parent }: KeptTrace): MadeSpans | null {
    const place: SpanParent = belowRemote(parent);
    if (part === "lead") {
      return this.#spans.ofForwarded(index, term, place);
    }
    const spans = this.#spans.ofReplicated(index, place);
    return spans === null ? null : { spans, forwarded: null, replicated: null };
  }

  #askOthers({ forwarded, replicated }: MadeSpans): void {
    if (forwarded !== null) {
      this.#peers?.sendKeptTrace(forwarded.leader, keptTrace("lead", forwarded));
    }
    if (replicated !== null) {
      this.#peers?.sendKeptTrace(null, keptTrace("follow", replicated));
    }
  }

  #push(due: Due): boolean {
    if (this.#due.length >= DUE_MAX) {
      this.dropped++;
      return false;
    }
    this.#due.push(due);
    return true;
  }

  #allowsSlow(nowMs: number): boolean {
    if (nowMs - this.#secondMs >= MS_PER_SECOND) {
      this.#secondMs = nowMs;
      this.#slowInSecond = 0;
    }
    if (this.#slowInSecond >= SLOW_PER_SECOND_MAX) {
      this.dropped++;
      return false;
    }
    this.#slowInSecond++;
    return true;
  }
}

function keptTrace(part: KeptTrace["part"], { index, term, span }: KeptEntry & { readonly span: Span }): KeptTrace {
  const { traceId, spanId, state } = span;
  return { part, index, term, traceId, spanId, state };
}
