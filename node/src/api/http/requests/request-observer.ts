/**
 * Counts the requests of the HTTP ports, by route, method and status, reports them to the log, and gives each an id for
 * the log, the answer and the client.
 *
 * Routes are named by their templates, never by paths, because paths contain names that clients choose. It does not see
 * requests that Node itself answers because they are not HTTP or arrive too slowly.
 */

import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Request } from "express";
import {
  type AnsweredRequest,
  counter,
  DurationHistogram,
  gauge,
  histogram,
  type Metric,
  REQUEST_BOUNDS,
  type RequestLog,
} from "../../../telemetry/index.ts";
import { type RequestTrace, type Tracer, traceContextOf } from "../../../tracing/index.ts";

import type { ClientAddresses } from "./client-addresses.ts";

const REQUEST_ID = "Request-Id";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/** For any other method of the parser, so that clients cannot create many labels. */
const OTHER_METHOD = "OTHER";
const NO_ROUTE = "none";
/** The status of a request whose client had gone before the answer began. */
const ABORTED = "aborted";
const FIRST_SERVER_ERROR = 500;

const requestIds = new WeakMap<IncomingMessage, string>();

/** The trace of the request; null = it has none. */
export function traceOf(request: ServiceRequest): RequestTrace | null {
  return request.trace ?? null;
}

/**
 * Returns the id of a request: the client's own if it is a UUID, else a generated one. It stays the same for a request.
 */
export function requestIdOf(request: IncomingMessage): string {
  let id = requestIds.get(request);
  if (id === undefined) {
    const given = request.headers["request-id"];
    id = typeof given === "string" && UUID.test(given) ? given.toLowerCase() : randomUUID();
    requestIds.set(request, id);
  }
  return id;
}

/** Characters of a `traceparent` that is kept; longer ones are not valid. */
const TRACE_CHARACTERS_MAX = 256;

/**
 * Frees the headers of a request whose answer is a stream: there may be 16 KiB of them, for as long as the client wants.
 * What the end of the stream is reported with stays.
 */
export function forgetHeaders(request: IncomingMessage): void {
  requestIdOf(request);
  const [traceparent = "", ...others] = headersOf(request).values("traceparent");
  const isKept = traceparent !== "" && traceparent.length <= TRACE_CHARACTERS_MAX && others.length === 0;
  request.rawHeaders = [];
  request.headers = isKept ? { traceparent } : {};
  request.headersDistinct = isKept ? { traceparent: [traceparent] } : {};
}

/** A request as the server passes it on: what serves it may name it for the metrics. */
export interface ServiceRequest extends IncomingMessage {
  /** The method of a service to which the request goes, instead of a route. */
  calls?: { readonly path: string; readonly mayWait: boolean };
  /** Whether the call of a service writes the log line of the request, and ends its trace. */
  isLogged?: boolean;
  /** Whether its route limits its own refusals, such as those of wrong passwords. */
  limitsFailures?: boolean;
  /** Absent = the request has none. */
  trace?: RequestTrace;
}

/** The requests of one method to one route. */
interface RouteRequests {
  readonly method: string;
  readonly route: string;
  /** Number of answers with each status. */
  readonly statuses: Map<string, number>;
  readonly durations: DurationHistogram;
}

export class RequestObserver {
  readonly #log: RequestLog;
  readonly #monotonicMs: () => number;
  readonly #clients: ClientAddresses;
  readonly #tracer: Tracer | null;
  readonly #routes = new Map<string, RouteRequests>();
  #inFlight = 0;

  /** @param monotonicMs monotonic clock in milliseconds, with fractions. */
  constructor(log: RequestLog, monotonicMs: () => number, clients: ClientAddresses, tracer: Tracer | null = null) {
    this.#log = log;
    this.#tracer = tracer;
    this.#clients = clients;
    this.#monotonicMs = monotonicMs;
  }

  get routes(): readonly RouteRequests[] {
    return [...this.#routes.values()];
  }

  /** Number of requests that are not completely answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Returns the application with its requests observed, and traced unless they are frequent checks of its health. */
  observed(application: RequestListener, isTraced = true): RequestListener {
    return (request: ServiceRequest, response) => {
      const startedMs = this.#monotonicMs();
      // Read now, while the connection is certainly open.
      const client = this.#clients.of(request);
      this.#inFlight++;
      const trace = isTraced ? (this.#tracer?.begin(headersOf(request), startedMs) ?? null) : null;
      if (trace !== null) {
        request.trace = trace;
      }
      response.setHeader(REQUEST_ID, requestIdOf(request));
      response.once("close", () => {
        this.#inFlight--;
        this.#onEnd(request, response, client, startedMs);
      });
      application(request, response);
    };
  }

  #onEnd(request: ServiceRequest, response: ServerResponse, client: string, startedMs: number): void {
    const endedMs = this.#monotonicMs();
    const durationMs = endedMs - startedMs;
    const trace = traceOf(request);
    const method = METHODS.has(request.method ?? "") ? (request.method as string) : OTHER_METHOD;
    const { calls } = request;
    const route = calls?.path ?? routeOf(request as Request);
    const status = response.headersSent ? String(response.statusCode) : ABORTED;
    const mayWait = calls?.mayWait ?? isWaiting(request, response);
    const name = `${method} ${route}`;
    const requests = this.#routes.get(name) ?? {
      method,
      route,
      statuses: new Map<string, number>(),
      durations: new DurationHistogram(REQUEST_BOUNDS),
    };
    this.#routes.set(name, requests);
    requests.statuses.set(status, (requests.statuses.get(status) ?? 0) + 1);
    if (!mayWait) {
      requests.durations.addMs(durationMs);
    }
    if (trace !== null && request.isLogged !== true) {
      this.#tracer?.end(trace, endedMs, mayWait, () => ({
        protocol: "http",
        name,
        code: response.headersSent ? response.statusCode : 0,
        isError: response.headersSent && response.statusCode >= FIRST_SERVER_ERROR,
        reason: "",
        requestId: requestIdOf(request),
      }));
    }
    if (request.isLogged === true) {
      return;
    }
    const describe = (): AnsweredRequest => {
      const traceId = traceIdOf(request);
      return {
        protocol: "http",
        method: name,
        status,
        requestId: requestIdOf(request),
        reason: "",
        client,
        ...(traceId === undefined ? {} : { trace_id: traceId }),
      };
    };
    this.#log.add(durationMs, mayWait, describe);
  }
}

/** All values of a header, in their order. Most requests lack it, and do not need the list of all. */
function headersOf(request: IncomingMessage) {
  return {
    values: (name: string): readonly string[] =>
      request.headers[name] === undefined ? [] : (request.headersDistinct[name] ?? []),
  };
}

/** The trace id of the request for the log: that of its caller if this member has no trace of it; undefined = it has none. */
export function traceIdOf(request: IncomingMessage): string | undefined {
  return traceOf(request)?.knownTraceId ?? traceContextOf(headersOf(request).values("traceparent"))?.traceId;
}

/** The template of the route. Express sets it on the request once a route has taken it. */
function routeOf({ baseUrl, route }: Request): string {
  return route === undefined ? NO_ROUTE : `${baseUrl}${route.path}`;
}

/** Whether the answer may take as long as its client wants to wait for events. */
function isWaiting({ url }: IncomingMessage, response: ServerResponse): boolean {
  const type = String(response.getHeader("content-type") ?? "");
  return type.startsWith("text/event-stream") || /[?&]wait_secs=/.test(url ?? "");
}

export const REQUEST_METRICS: readonly Metric<RequestObserver>[] = [
  counter({
    name: "quoin_http_requests_total",
    help: "Requests that were answered, or aborted by their clients before the answer, by the template of their route.",
    labels: ["method", "route", "status"],
    read: ({ routes }) =>
      routes.flatMap(({ method, route, statuses }) =>
        [...statuses].map(([status, count]) => [[method, route, status], count] as const),
      ),
  }),
  histogram({
    name: "quoin_http_request_duration_seconds",
    help: "Duration of requests, except those that wait for events.",
    labels: ["method", "route"],
    bounds: REQUEST_BOUNDS,
    read: ({ routes }) => routes.map(({ method, route, durations }) => [[method, route], durations] as const),
  }),
  gauge({
    name: "quoin_http_requests_in_flight",
    help: "Requests that have arrived and are not completely answered.",
    read: ({ inFlight }) => inFlight,
  }),
];
