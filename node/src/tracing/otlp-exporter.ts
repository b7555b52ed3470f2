/**
 * Exports spans by OTLP over HTTP, with the exporters of OpenTelemetry. They read the rest of their configuration from
 * the environment: OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _COMPRESSION, _CERTIFICATE and so on, and the variables of the
 * resource, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
 */

import { createTraceState, type HrTime, type SpanContext } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import type { OtlpProtocol } from "./otlp-protocol.ts";
import type { Span, SpanKind } from "./span.ts";

export interface OtlpOptions {
  /** The URL that takes traces; null = as the environment says. */
  readonly url: string | null;
  readonly protocol: OtlpProtocol;
  readonly version: string;
  /** Name of the member, and of its cluster. */
  readonly member: string;
  readonly cluster: string;
}

type LibraryExporter = JsonExporter | ProtobufExporter;
type LibrarySpan = Parameters<LibraryExporter["export"]>[0][number];

const SERVICE_NAME = "quoin";
const SCOPE_NAME = "quoin-node";
const SUCCESS = 0;
const SAMPLED = 1;
/** The kinds and states of spans as OpenTelemetry numbers them. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 0, server: 1, client: 2 };
const STATUS = { unset: 0, error: 2 } as const;
const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1_000_000;

export class OtlpExporter {
  readonly #exporter: LibraryExporter;
  /** The fields that all spans share. */
  readonly #shared: Pick<LibrarySpan, "resource" | "instrumentationScope">;

  constructor({ url, protocol, version, member, cluster }: OtlpOptions) {
    const own = resourceFromAttributes({
      "service.name": SERVICE_NAME,
      "service.version": version,
      "service.instance.id": member,
      "quoin.cluster": cluster,
      "quoin.member": member,
    });
    const resource = own.merge(detectResources({ detectors: [envDetector] }));
    this.#shared = { resource, instrumentationScope: { name: SCOPE_NAME, version } };
    const options = url === null ? {} : { url };
    this.#exporter = protocol === "http/json" ? new JsonExporter(options) : new ProtobufExporter(options);
  }

  /** Calls `done` once, with the problem or null. It gives up after the timeout of the environment, 10 s by default. */
  export(spans: readonly Span[], offsetMs: number, done: (problem: string | null) => void): void {
    const made = spans.map((span) => ({ ...this.#shared, ...librarySpanOf(span, offsetMs) }));
    this.#exporter.export(made, ({ code, error }) => {
      done(code === SUCCESS ? null : (error?.message ?? "the collector did not take the spans"));
    });
  }

  /** Ends connections; resolves when no batch is in flight. */
  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

function librarySpanOf(span: Span, offsetMs: number): Omit<LibrarySpan, "resource" | "instrumentationScope"> {
  const { traceId, spanId, parentId, hasRemoteParent, state, name, kind, fromMs, toMs, attributes, error } = span;
  const context = contextOf(traceId, spanId, state, false);
  return {
    name,
    kind: KINDS[kind],
    spanContext: () => context,
    ...(parentId === "" ? {} : { parentSpanContext: contextOf(traceId, parentId, state, hasRemoteParent) }),
    startTime: hrTimeOf(fromMs + offsetMs),
    endTime: hrTimeOf(toMs + offsetMs),
    duration: hrTimeOf(toMs - fromMs),
    status: error === "" ? { code: STATUS.unset } : { code: STATUS.error, message: error },
    attributes,
    events: span.events.map((event) => ({ ...event, time: hrTimeOf(event.atMs + offsetMs) })),
    links: span.links.map((link) => ({ context: contextOf(link.traceId, link.spanId, "", false) })),
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf(traceId: string, spanId: string, state: string, isRemote: boolean): SpanContext {
  const context = { traceId, spanId, traceFlags: SAMPLED, isRemote };
  return state === "" ? context : { ...context, traceState: createTraceState(state) };
}

function hrTimeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / MS_PER_SECOND);
  return [seconds, Math.round((ms - seconds * MS_PER_SECOND) * NS_PER_MS)];
}
