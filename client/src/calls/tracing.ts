/**
 * Spans of operations, for applications that use OpenTelemetry, and the headers by which members continue their traces.
 *
 * An application that has registered a tracer provider gets a span for each operation, in the active context, and below
 * it one for each attempt. The spans of a stream last until it ends. Without one, or without the package `@opentelemetry/api`, nothing is loaded and nothing is
 * made. Spans never contain keys, values or tokens.
 */

import type * as OpenTelemetry from "@opentelemetry/api";
import type { QuoinError } from "../errors/index.ts";
import { badField } from "../options/index.ts";
import type * as openTelemetryApi from "./open-telemetry-api.ts";

type Api = typeof openTelemetryApi;
type Attributes = Readonly<Record<string, string | number>>;

/** The headers of W3C Trace Context for a request; empty without a trace. */
export type TraceHeaders = Readonly<Record<string, string>>;

/** An operation, as far as spans describe it. */
export interface TracedOperation {
  /** Its name, such as `PutKey`. */
  readonly name: string;
  /** The name of its attempts: the full name of the method. */
  readonly attemptName: string;
  readonly attributes: Attributes;
}

/** The trace of one operation. Only the first end of an operation or an attempt counts. */
export interface OperationTrace {
  /** An attempt at this endpoint begins. */
  attempt(endpoint: string): AttemptTrace;
  /** The operation has ended; null = with success, or a stream that this side has ended. */
  end(error: QuoinError | null): void;
}

/** The trace of one attempt. */
export interface AttemptTrace {
  readonly headers: TraceHeaders;
  /** The attempt has ended; null = with success, or a stream that this side has ended. */
  end(error: QuoinError | null): void;
}

/** The mark of a process in which some code has registered a part of OpenTelemetry, as its API sets it. */
const REGISTRATION = Symbol.for("opentelemetry.js.api.1");
const TRACER_NAME = "@quoin/client";
/** W3C Trace Context, section 3.2: version 00. */
const TRACEPARENT_PATTERN = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const ignore = (): void => undefined;
const NO_HEADERS: TraceHeaders = {};
const UNTRACED_ATTEMPT: AttemptTrace = { headers: NO_HEADERS, end: ignore };
/** The trace of an operation without spans and headers. */
const UNTRACED: OperationTrace = { attempt: () => UNTRACED_ATTEMPT, end: ignore };

let api: Api | null = null;
let loading: Promise<Api | null> | null = null;

/** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD unless the text can be a header traceparent. */
export function assertTraceparent(text: string | undefined): void {
  if (text === undefined || TRACEPARENT_PATTERN.test(text)) {
    return;
  }
  throw badField("traceparent", "is not a header of W3C Trace Context, such as 00-<32 digits>-<16 digits>-01");
}

/** A gRPC call, as its spans describe it. */
export function tracedCall(path: string, request: unknown, attributes: Attributes = {}): TracedOperation {
  const { namespace } = request as { readonly namespace?: unknown };
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    attemptName: path.slice(1),
    attributes: { ...attributes, ...(typeof namespace === "string" ? { "quoin.namespace": namespace } : {}) },
  };
}

/**
 * Begins the trace of an operation; at once, unless the API of OpenTelemetry has to be loaded first.
 *
 * @param traceparent the header to send instead of making spans; undefined = spans, if the application has a provider.
 * @param describe called only if there are spans.
 */
export function traceOperation(
  traceparent: string | undefined,
  describe: () => TracedOperation,
): OperationTrace | Promise<OperationTrace> {
  if (traceparent !== undefined) {
    return { attempt: () => ({ headers: { traceparent }, end: ignore }), end: ignore };
  }
  if (api !== null) {
    return new SpanTrace(api, describe());
  }
  if (!(REGISTRATION in globalThis)) {
    return UNTRACED;
  }
  loading ??= import("./open-telemetry-api.ts").then(
    (loaded) => (api = loaded),
    () => null,
  );
  return loading.then((loaded) => (loaded === null ? UNTRACED : new SpanTrace(loaded, describe())));
}

class SpanTrace implements OperationTrace {
  readonly #api: Api;
  readonly #tracer: OpenTelemetry.Tracer;
  readonly #span: OpenTelemetry.Span;
  readonly #context: OpenTelemetry.Context;
  readonly #operation: TracedOperation;
  #attempts = 0;

  constructor(otel: Api, operation: TracedOperation) {
    const { name, attributes } = operation;
    this.#api = otel;
    this.#operation = operation;
    this.#tracer = otel.trace.getTracer(TRACER_NAME);
    const active = otel.context.active();
    this.#span = this.#tracer.startSpan(`quoin ${name}`, { kind: otel.SpanKind.INTERNAL, attributes }, active);
    this.#context = otel.trace.setSpan(active, this.#span);
  }

  attempt(endpoint: string): AttemptTrace {
    this.#attempts += 1;
    const { attemptName } = this.#operation;
    const attributes = {
      "rpc.system": "grpc",
      "server.address": endpoint,
      "quoin.attempt": this.#attempts,
    };
    const span = this.#tracer.startSpan(attemptName, { kind: this.#api.SpanKind.CLIENT, attributes }, this.#context);
    return { headers: this.#headersOf(span), end: (error) => this.#end(span, error) };
  }

  end(error: QuoinError | null): void {
    this.#end(this.#span, error);
  }

  #headersOf(span: OpenTelemetry.Span): TraceHeaders {
    const context = span.spanContext();
    if (!this.#api.isSpanContextValid(context)) {
      return NO_HEADERS;
    }
    const { traceId, spanId, traceFlags, traceState } = context;
    const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
    const tracestate = traceState?.serialize() ?? "";
    return tracestate === "" ? { traceparent } : { traceparent, tracestate };
  }

  #end(span: OpenTelemetry.Span, error: QuoinError | null): void {
    // It is not sampled, or it has ended.
    if (!span.isRecording()) {
      return;
    }
    if (error !== null) {
      // The message may name a key; code, reason and outcome are words of the contract.
      span.setAttributes({ "quoin.code": error.code, "quoin.reason": error.reason, "quoin.outcome": error.outcome });
      span.setStatus({
        code: this.#api.SpanStatusCode.ERROR,
        message: error.reason === "" ? error.code : error.reason,
      });
    }
    span.end();
  }
}
