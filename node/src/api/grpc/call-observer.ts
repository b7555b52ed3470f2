/**
 * Counts the calls of the gRPC ports, by method and status, and tells the log of them.
 *
 * It sees every call that reaches a method, also one that the library itself answers, and its end exactly once: with the
 * status that was sent, or as CANCELLED if the client was gone before. It stands where every call passes, so it counts
 * plain numbers; what they cost is measured by `npm run bench`.
 */

import { type Metadata, type ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import {
  counter,
  Durations,
  gauge,
  histogram,
  type Metric,
  REQUEST_BOUNDS,
  type RequestLog,
} from "../../telemetry/index.ts";
import { loggedRequestId } from "./metadata-contract.ts";

/** Calls that take as long as their clients want to wait for a lock. */
const WAITING = new Set(["AcquireLock", "AcquireRWLock"]);
const STATUS_CODES = 17;

/** The calls of one method. */
class MethodCalls {
  readonly path: string;
  readonly service: string;
  readonly method: string;
  /** Whether a call lasts as long as its client wants. */
  readonly mayWait: boolean;
  readonly isStream: boolean;
  inFlight = 0;
  /** How many ended with which status, by its number. */
  readonly codes = new Array<number>(STATUS_CODES).fill(0);
  readonly durations = new Durations(REQUEST_BOUNDS);

  constructor(path: string, isStream: boolean) {
    const [, service = "", method = ""] = path.split("/");
    this.path = path;
    this.service = service;
    this.method = method;
    this.isStream = isStream;
    this.mayWait = isStream || WAITING.has(method);
  }
}

export class CallObserver {
  readonly #log: RequestLog;
  readonly #monotonicMs: () => number;
  readonly #methods = new Map<string, MethodCalls>();

  /** @param monotonicMs milliseconds that only grow, with fractions. */
  constructor(log: RequestLog, monotonicMs: () => number) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  /** The methods that were called so far. */
  get methods(): readonly MethodCalls[] {
    return [...this.#methods.values()];
  }

  /** Sees the calls of a server. It must be the last one, so that it sees what the others send. */
  get interceptor(): ServerInterceptor {
    return ({ path, responseStream }, call) => {
      this.#observe(this.#methodOf(path, responseStream), call as ServerInterceptingCall);
      // The call itself: a wrapper around it would cost every message another round of callbacks.
      return call as ServerInterceptingCall;
    };
  }

  #methodOf(path: string, isStream: boolean): MethodCalls {
    let calls = this.#methods.get(path);
    if (calls === undefined) {
      calls = new MethodCalls(path, isStream);
      this.#methods.set(path, calls);
    }
    return calls;
  }

  #observe(calls: MethodCalls, call: ServerInterceptingCall): void {
    const startedMs = this.#monotonicMs();
    let isOver = false;
    let headers: Metadata | null = null;
    calls.inFlight++;
    const end = (code: status, trailers: Metadata | null): void => {
      if (isOver) {
        return;
      }
      isOver = true;
      calls.inFlight--;
      calls.codes[code] = (calls.codes[code] ?? 0) + 1;
      const durationMs = this.#monotonicMs() - startedMs;
      if (!calls.isStream) {
        calls.durations.addMs(durationMs);
      }
      this.#log.add(durationMs, calls.mayWait, () => ({
        protocol: "grpc",
        method: calls.path,
        status: status[code] ?? String(code),
        requestId: headers === null ? null : loggedRequestId(headers),
        reason: String(trailers?.get("error-reason")[0] ?? ""),
      }));
    };
    const sendStatus = call.sendStatus.bind(call);
    call.sendStatus = (answer) => {
      end(answer.code ?? status.UNKNOWN, answer.metadata ?? null);
      sendStatus(answer);
    };
    const start = call.start.bind(call);
    call.start = (listener: Parameters<ServerInterceptingCall["start"]>[0]) => {
      start({
        onReceiveMetadata: (metadata) => {
          headers = metadata;
          listener.onReceiveMetadata(metadata);
        },
        onReceiveMessage: (message) => listener.onReceiveMessage(message),
        onReceiveHalfClose: () => listener.onReceiveHalfClose(),
        // The library says so of every call that is over.
        onCancel: () => {
          end(status.CANCELLED, null);
          listener.onCancel();
        },
      });
    };
  }
}

export const CALL_METRICS: readonly Metric<CallObserver>[] = [
  counter({
    name: "quoin_grpc_requests_total",
    help: "Calls that have ended, streams included, by service, method and status.",
    labels: ["service", "method", "code"],
    read: ({ methods }) =>
      methods.flatMap(({ service, method, codes }) =>
        codes.flatMap((count, code) => (count === 0 ? [] : [[[service, method, status[code] ?? ""], count] as const])),
      ),
  }),
  histogram({
    name: "quoin_grpc_request_duration_seconds",
    help: "How long calls took that are answered once; those that wait for a lock count with their waiting.",
    labels: ["service", "method"],
    bounds: REQUEST_BOUNDS,
    read: ({ methods }) =>
      methods
        .filter(({ isStream }) => !isStream)
        .map(({ service, method, durations }) => [[service, method], durations] as const),
  }),
  gauge({
    name: "quoin_grpc_requests_in_flight",
    help: "Calls that have begun and not ended, streams included.",
    labels: ["service", "method"],
    read: ({ methods }) => methods.map(({ service, method, inFlight }) => [[service, method], inFlight]),
  }),
];
