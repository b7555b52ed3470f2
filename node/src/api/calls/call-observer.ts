/**
 * Counts the calls of the services, by method and status, and reports them to the log: over gRPC, and over HTTP by the
 * Connect protocol.
 *
 * It sees every call that reaches a method, including calls that the library itself answers. It counts the end of each
 * call exactly once: with the status that was sent, or as CANCELLED if the client had gone before. Every call passes
 * here, so it counts plain numbers; `npm run bench` measures their cost.
 */

import {
  type AnsweredRequest,
  counter,
  DurationHistogram,
  gauge,
  histogram,
  type Metric,
  REQUEST_BOUNDS,
  type RequestLog,
} from "../../telemetry/index.ts";
import { type RequestEnd, type RequestTrace, type Tracer, traceContextOf } from "../../tracing/index.ts";
import { type StatusCode, status, statusName } from "./grpc-status.ts";
import { loggedRequestId } from "./metadata-contract.ts";

const STATUS_CODES = 17;

/** What the observer must know of a method. */
export interface ObservedMethod {
  /** Full name, such as /coordination.v1.KeyValueService/PutKey. */
  readonly path: string;
  readonly responseStream: boolean;
  /** Whether a call lasts as long as its client wants. */
  readonly mayWait: boolean;
}

/** The calls of one method. */
export class MethodCalls {
  readonly path: string;
  readonly service: string;
  readonly method: string;
  /** Whether a call lasts as long as its client wants. */
  readonly mayWait: boolean;
  readonly isStream: boolean;
  /** Whether it was called at least once. */
  isCalled = false;
  inFlight = 0;
  /** Number of calls that ended with each status, by the number of the status. */
  readonly codes = new Array<number>(STATUS_CODES).fill(0);
  readonly durations = new DurationHistogram(REQUEST_BOUNDS);

  constructor({ path, responseStream, mayWait }: ObservedMethod) {
    const [, service = "", method = ""] = path.split("/");
    this.path = path;
    this.service = service;
    this.method = method;
    this.isStream = responseStream;
    this.mayWait = mayWait;
  }
}

/** The protocols of calls, for the log. */
export type CallProtocol = "grpc" | "connect";

/** How a call ended. */
interface CallEnd {
  readonly code: StatusCode;
  /** The trailer error-reason; "" = none. */
  readonly reason: string;
  readonly call: ObservedCall;
}

interface ObservedCall {
  readonly protocol: CallProtocol;
  readonly trace: RequestTrace | null;
  values(name: string): readonly string[];
}

/** The failures that are of the server, as OpenTelemetry counts them: only these make a span failed. */
const SERVER_FAILURES: ReadonlySet<StatusCode> = new Set([
  ...[status.UNKNOWN, status.DEADLINE_EXCEEDED, status.UNIMPLEMENTED],
  ...[status.INTERNAL, status.UNAVAILABLE, status.DATA_LOSS],
]);

export class CallObserver {
  readonly #log: RequestLog;
  readonly #monotonicMs: () => number;
  readonly #tracer: Tracer | null;
  readonly #byPath = new Map<string, MethodCalls>();
  readonly #called: MethodCalls[] = [];

  /** @param monotonicMs monotonic clock in milliseconds, with fractions. */
  constructor(log: RequestLog, monotonicMs: () => number, tracer: Tracer | null = null) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
    this.#tracer = tracer;
  }

  /** The methods that were called at least once, in the order of their first calls. */
  get methods(): readonly MethodCalls[] {
    return this.#called;
  }

  get monotonicMs(): () => number {
    return this.#monotonicMs;
  }

  /** Returns the counts of a method, which all ports share. */
  callsOf(method: ObservedMethod): MethodCalls {
    let calls = this.#byPath.get(method.path);
    if (calls === undefined) {
      calls = new MethodCalls(method);
      this.#byPath.set(method.path, calls);
    }
    return calls;
  }

  /** A call begins; `end` follows once. */
  begin(calls: MethodCalls): void {
    if (!calls.isCalled) {
      calls.isCalled = true;
      this.#called.push(calls);
    }
    calls.inFlight++;
  }

  /** Begins the trace of a call whose headers have arrived; null = it has none. */
  traceOf(headers: { values(name: string): readonly string[] }, startedMs: number): RequestTrace | null {
    return this.#tracer === null ? null : this.#tracer.begin(headers, startedMs);
  }

  /** A call that began at `startedMs` has ended. */
  end(calls: MethodCalls, startedMs: number, end: CallEnd): void {
    const { code, call } = end;
    calls.inFlight--;
    calls.codes[code] = (calls.codes[code] ?? 0) + 1;
    const endedMs = this.#monotonicMs();
    const durationMs = endedMs - startedMs;
    if (!calls.isStream) {
      calls.durations.addMs(durationMs);
    }
    if (call.trace !== null) {
      this.#tracer?.end(call.trace, endedMs, calls.isStream, () => traced(calls, end));
    }
    // After the decision about the trace, because the line names a kept one.
    this.#log.add(durationMs, calls.mayWait, () => logged(calls, end));
  }
}

function logged({ path }: MethodCalls, { code, reason, call }: CallEnd): AnsweredRequest {
  // The trace of the caller is worth a search in the log, even if this member keeps none.
  const traceId = call.trace?.knownTraceId ?? traceContextOf(call.values("traceparent"))?.traceId;
  return {
    protocol: call.protocol,
    method: path,
    status: statusName(code),
    reason,
    requestId: loggedRequestId(call.values("request-id")),
    ...(traceId === undefined ? {} : { trace_id: traceId }),
  };
}

function traced({ path }: MethodCalls, { code, reason, call }: CallEnd): RequestEnd {
  return {
    protocol: call.protocol,
    name: path.slice(1),
    code,
    isError: SERVER_FAILURES.has(code),
    reason,
    requestId: loggedRequestId(call.values("request-id")),
  };
}

export const CALL_METRICS: readonly Metric<CallObserver>[] = [
  counter({
    name: "quoin_grpc_requests_total",
    help: "Calls of services that have ended, over gRPC and HTTP, including streams, by service, method and status.",
    labels: ["service", "method", "code"],
    read: ({ methods }) =>
      methods.flatMap(({ service, method, codes }) =>
        codes.flatMap((count, code) => (count === 0 ? [] : [[[service, method, statusName(code)], count] as const])),
      ),
  }),
  histogram({
    name: "quoin_grpc_request_duration_seconds",
    help: "Duration of unary calls, including the time that they wait for a lock.",
    labels: ["service", "method"],
    bounds: REQUEST_BOUNDS,
    read: ({ methods }) =>
      methods
        .filter(({ isStream }) => !isStream)
        .map(({ service, method, durations }) => [[service, method], durations] as const),
  }),
  gauge({
    name: "quoin_grpc_requests_in_flight",
    help: "Calls that have begun and not ended, including streams.",
    labels: ["service", "method"],
    read: ({ methods }) => methods.map(({ service, method, inFlight }) => [[service, method], inFlight]),
  }),
];
