/**
 * Checks a call when its headers arrive, before its message is read.
 *
 * It makes the first checks of the contract in their order (1 token, 2 api-version, 3 request-id), and then checks the
 * limits of the client. A refusal here is cheap: the stream closes with the answer. The request must be complete in
 * time, and its bytes are counted as they arrive.
 *
 * A client that does not close refused calls loses its connection. A client without a verified token on its connection
 * also loses it if too many calls wait for the check of their token, or if many of its calls were refused.
 */

import { LinkedQueue } from "../../collections/index.ts";
import { InvariantViolation, invariant } from "../../primitives/index.ts";
import type { Clock } from "../../replica/index.ts";
import { CoordinationError, type Principal } from "../../state/index.ts";
import { counter, type Metric } from "../../telemetry/index.ts";
import { type ClientLimits, REQUEST_MS } from "../connections/index.ts";
import type { CallerAccess } from "./caller-access.ts";
import type { ClientConnection } from "./client-connection.ts";
import { allowedMs } from "./deadline.ts";
import { endProcess } from "./end-process.ts";
import type { ErrorLog } from "./error-log.ts";
import type { CallChecks, IncomingCall } from "./incoming-call.ts";
import { requestId, requireApiVersion, requireRequestId } from "./metadata-contract.ts";
import { type OpenCall, OpenCalls } from "./open-calls.ts";

export interface CallAdmissionOptions<Caller extends { readonly principal: Principal }> {
  /** Name of the port, such as grpc. */
  readonly port: string;
  readonly access: CallerAccess<Caller>;
  readonly requestId: "required" | "optional";
  readonly limits: ClientLimits;
  readonly clock: Clock;
  readonly logger: ErrorLog;
}

/** The result of checking the headers of a call. */
export interface Admission<Caller> {
  /** Null for a method that needs no token. */
  readonly caller: Caller | null;
  /** The request id in lower case. */
  readonly requestId: string | undefined;
}

/** For metrics. */
export interface CallStatistics {
  readonly port: string;
  /** Calls that were refused because a limit was reached. */
  readonly refusals: OpenCalls["refusals"];
}

/** On a connection with a verified token, single calls are refused; beyond this multiple of the limit, it is closed. */
const VERIFIED_FACTOR = 2;
/** Interval of the search for late requests, in milliseconds. */
const CHECK_INTERVAL_MS = 500;

export class CallAdmission<Caller extends { readonly principal: Principal }> implements CallStatistics, CallChecks {
  readonly #options: CallAdmissionOptions<Caller>;
  readonly #open: OpenCalls;
  /** Calls that are not complete yet, or that were refused and are still open, in the order of `dueMs`. */
  readonly #due = new LinkedQueue<IncomingCall>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: CallAdmissionOptions<Caller>) {
    this.#options = options;
    this.#open = new OpenCalls(options.limits);
    this.#timer = setInterval(() => this.#checkDue(), CHECK_INTERVAL_MS).unref();
  }

  get port(): string {
    return this.#options.port;
  }

  get refusals(): OpenCalls["refusals"] {
    return this.#open.refusals;
  }

  /** Returns the result of checking the headers of a call. */
  admission({ admission }: { readonly admission: unknown }): Admission<Caller> {
    invariant(admission !== null, "a method of the contract runs only for admitted calls");
    return admission as Admission<Caller>;
  }

  /** Call it when no call is open any more. */
  stop(): void {
    clearInterval(this.#timer);
  }

  arrive(call: IncomingCall): OpenCall {
    const { connection } = call;
    const open = this.#open.arrive(connection.address);
    call.dueMs = this.#nowMs() + REQUEST_MS;
    this.#due.push(call);
    if (open.isBeyondUnverified(connection.isVerified ? VERIFIED_FACTOR : 1)) {
      open.unverifiedRefusal();
      connection.disconnect();
    }
    return open;
  }

  /** Steps 1 to 3 of the contract, then the limits. */
  admit(call: IncomingCall): undefined | Promise<undefined> {
    const { open, method } = call;
    if (open.isBeyondUnverified(1)) {
      throw open.unverifiedRefusal();
    }
    if (method.checks !== "token") {
      if (method.checks === "metadata") {
        const admission: Admission<Caller> = { caller: null, requestId: this.#checkMetadata(call) };
        call.admission = admission;
      }
      open.admitOpen();
      return undefined;
    }
    const { access, clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + allowedMs(call.deadline, Date.now());
    const caller = access.authenticate(call.values("authorization"), deadlineMs);
    return caller instanceof Promise
      ? caller.then((found) => this.#admitCaller(call, found))
      : this.#admitCaller(call, caller);
  }

  refuse(call: IncomingCall, error: Error): void {
    this.#refuse(call, error);
    call.connection.noteRefusal();
  }

  refuseRequest(connection: ClientConnection): void {
    this.#open.countOtherRequest();
    connection.noteRefusal();
  }

  complete(call: IncomingCall): void {
    this.#due.remove(call);
  }

  close(call: IncomingCall): void {
    call.open.close();
    this.#due.remove(call);
  }

  #admitCaller(call: IncomingCall, caller: Caller): undefined {
    call.connection.verified(caller.principal.subject);
    const id = this.#checkMetadata(call);
    call.open.admit(call.method.responseStream ? "streams" : "calls", caller.principal.subject);
    const admission: Admission<Caller> = { caller, requestId: id };
    call.admission = admission;
  }

  /** Steps 2 and 3; returns the request id in lower case. */
  #checkMetadata(call: IncomingCall): string | undefined {
    requireApiVersion(call.values("api-version"));
    const ids = call.values("request-id");
    return this.#options.requestId === "required" ? requireRequestId(ids) : requestId(ids);
  }

  #refuse(call: IncomingCall, error: Error): void {
    if (error instanceof InvariantViolation) {
      endProcess(error);
      return;
    }
    if (!(error instanceof CoordinationError)) {
      this.#options.logger.error({ err: error, method: call.method.path }, "checking the headers of a call failed");
    }
    // The client must close the refused call within this time.
    this.#due.remove(call);
    call.dueMs = this.#nowMs() + REQUEST_MS;
    this.#due.push(call);
    call.open.refuse();
    call.answerRefusal(error);
  }

  /** Refuses late requests, and closes connections whose clients keep refused calls open. */
  #checkDue(): void {
    const nowMs = this.#nowMs();
    for (let call = this.#due.first; call !== null && call.dueMs <= nowMs; call = this.#due.first) {
      this.#due.remove(call);
      if (call.isRefused) {
        call.connection.disconnect();
      } else {
        this.#refuse(call, call.open.lateRefusal());
      }
    }
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

export const CALL_ADMISSION_METRICS: readonly Metric<readonly CallStatistics[]>[] = [
  counter({
    name: "quoin_grpc_calls_refused_total",
    help: "Calls that were refused because a limit was reached or the request was not complete in time, by port, limit and scope.",
    labels: ["port", "limit", "scope"],
    read: (ports) =>
      ports.flatMap(({ port, refusals }) =>
        [...refusals].flatMap(([limit, scopes]) =>
          [...scopes].map(([scope, count]) => [[port, limit, scope], count] as const),
        ),
      ),
  }),
];
