/** A span as this member makes it: plain data with monotonic times. The exporter turns it into one of OpenTelemetry. */

import { newSpanId, type TraceContext } from "./trace-context.ts";

export type SpanKind = "internal" | "server" | "client";

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** "" = the root of its trace. */
  readonly parentId: string;
  /** Whether the parent is of another process. */
  readonly hasRemoteParent: boolean;
  readonly state: string;
  readonly name: string;
  readonly kind: SpanKind;
  /** On the monotonic clock of this process. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** May grow until the span is exported. */
  readonly links: readonly SpanLink[];
  /** Why it failed; "" = it did not. */
  readonly error: string;
}

/** What is the same for the spans of one trace at one place of the tree. */
export interface SpanParent {
  readonly traceId: string;
  readonly parentId: string;
  readonly hasRemoteParent: boolean;
  readonly state: string;
}

/** The parts of a span that differ from case to case. */
interface SpanParts {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly fromMs: number;
  readonly toMs: number;
  readonly attributes?: Attributes;
  readonly events?: readonly SpanEvent[];
  readonly links?: readonly SpanLink[];
  readonly error?: string;
}

/** Makes a span with a new id. A time before its beginning counts as its beginning. */
export function spanOf(parent: SpanParent, parts: SpanParts): Span {
  const { name, kind = "internal", fromMs, toMs, attributes = {}, events = [], links = [], error = "" } = parts;
  return {
    ...parent,
    spanId: newSpanId(),
    name,
    kind,
    fromMs,
    toMs: Math.max(fromMs, toMs),
    attributes,
    events,
    links,
    error,
  };
}

/** The place below a span of this process. */
export function below({ traceId, spanId, state }: Span): SpanParent {
  return { traceId, parentId: spanId, hasRemoteParent: false, state };
}

/** The place below a span of another process. */
export function belowRemote({ traceId, spanId, state }: Omit<TraceContext, "isSampled">): SpanParent {
  return { traceId, parentId: spanId, hasRemoteParent: true, state };
}
