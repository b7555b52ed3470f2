/**
 * The times of one request while it runs: a few numbers, from which spans are made only if the trace is kept.
 *
 * A member makes one for each request that is sampled, and for every request if it keeps slow ones. Times are of the
 * monotonic clock, in milliseconds; 0 = the request has not come there.
 */

import type { TraceContext } from "./trace-context.ts";
import { newTraceId } from "./trace-context.ts";

/** How a request ended. */
export interface RequestEnd {
  readonly protocol: "grpc" | "connect" | "http";
  /** The full name of a method without its first slash, or an HTTP method and the template of a route. */
  readonly name: string;
  /** The gRPC status as a number, or the HTTP status. */
  readonly code: number;
  readonly isError: boolean;
  /** Why it failed, as one word; "" if it did not. */
  readonly reason: string;
  readonly requestId: string | null;
}

export class RequestTrace {
  /** The span of the caller; null if it sent none. */
  readonly parent: TraceContext | null;
  readonly isSampled: boolean;
  readonly startedMs: number;
  /** The namespace that the caller needs access to; null = none is known. */
  namespace: string | null = null;
  /** The headers are admitted, and the request is complete. */
  admittedMs = 0;
  completeMs = 0;
  /** The command waits for its turn; its last attempt was handed to the leader. */
  queuedMs = 0;
  handedOutMs = 0;
  attempts = 0;
  /** Leader that the attempt was forwarded to; 0 = this member leads. */
  leader = 0;
  /** The leader has reported that it has appended the forwarded attempt. */
  reportedMs = 0;
  /** Index of its entry; 0 = not known. */
  index = 0;
  term = 0;
  /** The entry is applied, and its request waits for a lock. */
  lockQueuedMs = 0;
  /** The outcome of the command is known. */
  decidedMs = 0;
  /** The read waits for the read barrier, a quorum has confirmed the barrier, and the state is new enough. */
  barrierMs = 0;
  confirmedMs = 0;
  readableMs = 0;
  endedMs = 0;
  /** Whether its spans are made. */
  isKept = false;
  #traceId: string | null = null;

  constructor(parent: TraceContext | null, isSampled: boolean, startedMs: number) {
    this.parent = parent;
    this.isSampled = isSampled;
    this.startedMs = startedMs;
  }

  /** 32 hexadecimal digits; made when it is first needed, unless the caller has sent one. */
  get traceId(): string {
    this.#traceId ??= this.parent?.traceId ?? newTraceId();
    return this.#traceId;
  }

  /** The trace id, if a search for it finds something: a span of this member, or of the caller. */
  get knownTraceId(): string | undefined {
    return this.isSampled || this.isKept || this.parent !== null ? this.traceId : undefined;
  }

  /** How long the request took, without its wait for a lock that others held, which is no slowness. */
  get busyMs(): number {
    const waitedMs =
      this.lockQueuedMs === 0 ? 0 : (this.decidedMs === 0 ? this.endedMs : this.decidedMs) - this.lockQueuedMs;
    return this.endedMs - this.startedMs - waitedMs;
  }

  /** An attempt was handed to the leader of this term; `leader` 0 = this member. */
  onHandedOut(nowMs: number, leader: number, term: number): void {
    this.handedOutMs = nowMs;
    this.leader = leader;
    this.term = term;
    this.attempts++;
    this.index = 0;
    this.reportedMs = 0;
  }

  /** The leader has reported the index of the forwarded attempt. */
  onReported(nowMs: number, index: number): void {
    this.reportedMs = nowMs;
    this.index = index;
  }
}
