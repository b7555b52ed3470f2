/**
 * What becomes of a call when its headers arrive, before anything of its message is read.
 *
 * The first checks of the contract are made in their order (1 token, 2 api-version, 3 request-id), then whether the
 * client has too much open already. What is refused there costs little: its stream is closed with the answer. The
 * request must be complete in time, and its bytes are counted while they come. A client that does not let go of what
 * was refused loses its connection. So does at once a client that opens calls where too many wait for their token to be
 * verified, or that has had many refused, unless a token was verified on its connection before.
 */

import { LinkedQueue } from "../../collections/index.ts";
import { InvariantViolation, invariant } from "../../raft/index.ts";
import type { Clock } from "../../replica/index.ts";
import { stamp } from "../../stamps/index.ts";
import { CoordinationError, type Principal } from "../../state/index.ts";
import { counter, type Metric } from "../../telemetry/index.ts";
import { type ClientLimits, REQUEST_MS } from "../connections/index.ts";
import type { CallerAccess } from "./caller-access.ts";
import { allowedMs } from "./deadline.ts";
import { endProcess } from "./end-process.ts";
import type { ErrorLog } from "./error-log.ts";
import type { CallChecks, IncomingCall } from "./incoming-call.ts";
import { requestId, requireApiVersion, requireRequestId } from "./metadata-contract.ts";
import { type OpenCall, OpenCalls } from "./open-calls.ts";

export interface CallIntakeOptions<Caller extends { readonly principal: Principal }> {
  /** Name of the port, such as grpc. */
  readonly port: string;
  readonly access: CallerAccess<Caller>;
  readonly requestId: "required" | "optional";
  readonly limits: ClientLimits;
  readonly clock: Clock;
  readonly logger: ErrorLog;
}

/** What the headers of a call have shown. */
export interface Admission<Caller> {
  readonly caller: Caller;
  /** In lower case. */
  readonly requestId: string | undefined;
}

/** For metrics. */
export interface CallStatistics {
  readonly port: string;
  /** Calls that were refused because there was too much of something. */
  readonly refusals: OpenCalls["refusals"];
}

/** A connection on which a token was verified is refused single calls until there are so many times too many. */
const VERIFIED_FACTOR = 2;
/** A connection on which no token is good is cut behind so many refusals: each of them costs more than its call. */
const UNVERIFIED_REFUSALS_MAX = 100;
/** How often requests are looked for that are late, in milliseconds. */
const LOOK_MS = 500;

export class CallIntake<Caller extends { readonly principal: Principal }> implements CallStatistics, CallChecks {
  readonly #options: CallIntakeOptions<Caller>;
  readonly #open: OpenCalls;
  /** Full names of the methods that need a token. */
  readonly #guarded = new Set<string>();
  /** Calls that are not complete, or were refused and are not closed, in the order in which they are due. */
  readonly #due = new LinkedQueue<IncomingCall>();
  readonly #looking: NodeJS.Timeout;

  constructor(options: CallIntakeOptions<Caller>) {
    this.#options = options;
    this.#open = new OpenCalls(options.limits);
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  get port(): string {
    return this.#options.port;
  }

  get refusals(): OpenCalls["refusals"] {
    return this.#open.refusals;
  }

  /** From now on calls of this method need a token. */
  guard(path: string): void {
    this.#guarded.add(path);
  }

  /** What the headers of a call of a guarded method have shown. */
  admission({ admission }: { readonly admission: unknown }): Admission<Caller> {
    invariant(admission !== null, "a guarded method is called for admitted calls only");
    return admission as Admission<Caller>;
  }

  /** To be called when no call is open any more. */
  stop(): void {
    clearInterval(this.#looking);
  }

  arrive(call: IncomingCall): OpenCall {
    const { connection } = call;
    stamp("call.arrived", call.streamId);
    const open = this.#open.arrive(connection.address);
    call.dueMs = this.#nowMs() + REQUEST_MS;
    this.#due.push(call);
    if (open.isBeyondUnverified(connection.isVerified ? VERIFIED_FACTOR : 1)) {
      open.unverifiedRefusal();
      connection.cut();
    }
    return open;
  }

  /** Steps 1 to 3 of the contract, then the limits. */
  admit(call: IncomingCall): undefined | Promise<undefined> {
    const { open, method } = call;
    if (open.isBeyondUnverified(1)) {
      throw open.unverifiedRefusal();
    }
    if (!this.#guarded.has(method.path)) {
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
    const { connection } = call;
    if (++connection.refusals > UNVERIFIED_REFUSALS_MAX && !connection.isVerified) {
      connection.cut();
    }
  }

  complete(call: IncomingCall): void {
    this.#due.remove(call);
  }

  leave(call: IncomingCall): void {
    call.open.leave();
    this.#due.remove(call);
  }

  #admitCaller(call: IncomingCall, caller: Caller): undefined {
    call.connection.isVerified = true;
    requireApiVersion(call.values("api-version"));
    const ids = call.values("request-id");
    const id = this.#options.requestId === "required" ? requireRequestId(ids) : requestId(ids);
    call.open.admit(call.method.responseStream ? "streams" : "calls", caller.principal.subject);
    const admission: Admission<Caller> = { caller, requestId: id };
    call.admission = admission;
    stamp("call.admitted", call.streamId, 0, 0, id);
  }

  #refuse(call: IncomingCall, error: Error): void {
    if (error instanceof InvariantViolation) {
      endProcess(error);
      return;
    }
    if (!(error instanceof CoordinationError)) {
      this.#options.logger.error({ err: error, method: call.method.path }, "the headers of a call met a bug");
    }
    // From now on the client has so long to let go of it.
    this.#due.remove(call);
    call.dueMs = this.#nowMs() + REQUEST_MS;
    this.#due.push(call);
    call.open.refuse();
    call.answerRefusal(error);
  }

  /** Refuses what is late, and cuts connections that keep what was refused. */
  #look(): void {
    const nowMs = this.#nowMs();
    for (let call = this.#due.first; call !== null && call.dueMs <= nowMs; call = this.#due.first) {
      this.#due.remove(call);
      if (call.isRefused) {
        call.connection.cut();
      } else {
        this.#refuse(call, call.open.lateRefusal());
      }
    }
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

export const INTAKE_METRICS: readonly Metric<readonly CallStatistics[]>[] = [
  counter({
    name: "quoin_grpc_calls_refused_total",
    help: "Calls that were refused because too much was open or their request was not complete in time, by port, limit and scope.",
    labels: ["port", "limit", "scope"],
    read: (ports) =>
      ports.flatMap(({ port, refusals }) =>
        [...refusals].flatMap(([limit, scopes]) =>
          [...scopes].map(([scope, count]) => [[port, limit, scope], count] as const),
        ),
      ),
  }),
];
