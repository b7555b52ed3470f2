/**
 * A collector of traces on the loopback interface: it takes OTLP over HTTP in JSON
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding), and keeps the spans. It may refuse, or not answer.
 *
 * It decodes what has arrived when the spans are read, so that it takes little time from what runs beside it.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A value of an attribute, in the JSON encoding: 64-bit numbers are text. */
interface EncodedValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

interface EncodedAttribute {
  readonly key: string;
  readonly value: EncodedValue;
}

interface EncodedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly EncodedAttribute[];
  readonly events?: readonly {
    readonly name: string;
    readonly timeUnixNano: string;
    readonly attributes?: readonly EncodedAttribute[];
  }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

interface EncodedRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly EncodedAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly EncodedSpan[] }[];
  }[];
}

type Values = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CollectedEvent {
  readonly name: string;
  readonly atNs: bigint;
  readonly attributes: Values;
}

/** Times are in nanoseconds of the wall clock. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** "" = the root. */
  readonly parentId: string;
  readonly state: string;
  readonly name: string;
  readonly kind: "internal" | "server" | "client" | "other";
  readonly fromNs: bigint;
  readonly toNs: bigint;
  readonly attributes: Values;
  readonly resource: Values;
  readonly events: readonly CollectedEvent[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** The message of a failed span; undefined = it did not fail. */
  readonly error: string | undefined;
}

const KINDS = ["other", "internal", "server", "client"] as const;
const FAILED = 2;

export class TraceCollector {
  /** Headers of each request. */
  readonly requests: IncomingMessage["headers"][] = [];
  /** What becomes of the next requests. */
  mode: "take" | "refuse" | "silent" = "take";
  /** Answers so many requests with this status, and takes the next ones. */
  overload: { readonly status: 429 | 503; readonly times: number } = { status: 429, times: 0 };
  /** Bodies of requests that are not decoded yet. */
  readonly #bodies: Buffer[] = [];
  readonly #spans: CollectedSpan[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async open(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    collector.#server.listen(0, "127.0.0.1");
    await once(collector.#server, "listening");
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get spans(): readonly CollectedSpan[] {
    for (const body of this.#bodies.splice(0)) {
      this.#spans.push(...spansOf(JSON.parse(body.toString()) as EncodedRequest));
    }
    return this.#spans;
  }

  /** The spans of a trace. */
  trace(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(request.headers);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunks.push(chunk);
    }
    if (this.mode === "silent") {
      return;
    }
    const { status, times } = this.overload;
    if (times > 0) {
      this.overload = { status, times: times - 1 };
      response.writeHead(status, { "retry-after": "0" }).end();
      return;
    }
    const isWanted = request.method === "POST" && request.url === "/v1/traces";
    const isJson = request.headers["content-type"] === "application/json";
    if (this.mode === "refuse" || !isWanted || !isJson) {
      response.writeHead(400, { "content-type": "application/json" }).end("{}");
      return;
    }
    this.#bodies.push(Buffer.concat(chunks));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  }
}

function spansOf({ resourceSpans }: EncodedRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const attributes = valuesOf(resource.attributes);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => collected(span, attributes)));
  });
}

function collected(span: EncodedSpan, resource: Values): CollectedSpan {
  const { traceId, spanId, parentSpanId = "", traceState = "", name, kind, status } = span;
  return {
    traceId,
    spanId,
    parentId: parentSpanId,
    state: traceState,
    name,
    kind: KINDS[kind] ?? "other",
    resource,
    fromNs: BigInt(span.startTimeUnixNano),
    toNs: BigInt(span.endTimeUnixNano),
    attributes: valuesOf(span.attributes ?? []),
    events: (span.events ?? []).map(({ name: event, timeUnixNano, attributes = [] }) => {
      return { name: event, atNs: BigInt(timeUnixNano), attributes: valuesOf(attributes) };
    }),
    links: (span.links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    error: status?.code === FAILED ? (status.message ?? "") : undefined,
  };
}

function valuesOf(attributes: readonly EncodedAttribute[]): Values {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => {
      return [key, stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue) : Number(intValue))];
    }),
  );
}
