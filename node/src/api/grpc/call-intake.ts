/**
 * What becomes of a call when its headers arrive, before anything of its message is read.
 *
 * The first checks of the contract are made in their order (1 token, 2 api-version, 3 request-id), then whether the
 * client has too much open already. What is refused there costs little: its stream is closed with the answer. The
 * request must be complete in time, and its bytes are counted while they come. A client that does not let go of what
 * was refused loses its connection. So does at once a client that opens calls where too many wait for their token to be
 * verified, or that has had many refused, unless a token was verified on its connection before.
 */

import { constants, type ServerHttp2Session } from "node:http2";
import type { Metadata, ServerInterceptingCall, ServerInterceptor } from "@grpc/grpc-js";
import { LinkedQueue } from "../../collections/index.ts";
import { InvariantViolation, invariant } from "../../raft/index.ts";
import type { Clock } from "../../replica/index.ts";
import { stamp } from "../../stamps/index.ts";
import { CoordinationError, type Principal } from "../../state/index.ts";
import { counter, type Metric } from "../../telemetry/index.ts";
import { type ClientLimits, clientOf, REQUEST_MS } from "../connections/index.ts";
import type { CallerAccess } from "./caller-access.ts";
import { allowedMs } from "./deadline.ts";
import { endProcess } from "./end-process.ts";
import type { ErrorLog } from "./error-log.ts";
import { IncomingCall } from "./incoming-call.ts";
import { streamOf } from "./library-call.ts";
import { requestId, requireApiVersion, requireRequestId } from "./metadata-contract.ts";
import { OpenCalls } from "./open-calls.ts";

export interface CallIntakeOptions<Caller extends { readonly principal: Principal }> {
  /** Name of the port, such as grpc. */
  readonly port: string;
  readonly access: CallerAccess<Caller>;
  readonly requestId: "required" | "optional";
  readonly limits: ClientLimits;
  readonly clock: Clock;
  readonly logger: ErrorLog;
  /** host:port of the leader's gRPC port, or null if none is known. */
  leaderEndpoint(): string | null;
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

/** A connection with calls. */
interface Connection {
  readonly address: string;
  /** Whether a token was verified on it. */
  isVerified: boolean;
  /** Calls that were refused on it. */
  refusals: number;
}

type Method = Parameters<ServerInterceptor>[0];

/** A connection on which a token was verified is refused single calls until there are so many times too many. */
const VERIFIED_FACTOR = 2;
/** A connection on which no token is good is cut behind so many refusals: each of them costs more than its call. */
const UNVERIFIED_REFUSALS_MAX = 100;
const ignore = (): void => undefined;
/** How often requests are looked for that are late, in milliseconds. */
const LOOK_MS = 500;

export class CallIntake<Caller extends { readonly principal: Principal }> implements CallStatistics {
  readonly #options: CallIntakeOptions<Caller>;
  readonly #open: OpenCalls;
  /** Full names of the methods that need a token. */
  readonly #guarded = new Set<string>();
  readonly #connections = new WeakMap<ServerHttp2Session, Connection>();
  readonly #admissions = new WeakMap<Metadata, Admission<Caller>>();
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

  /** What the headers of a call of a guarded method have shown, given its metadata. */
  admission(metadata: Metadata): Admission<Caller> {
    const admission = this.#admissions.get(metadata);
    invariant(admission !== undefined, "a guarded method is called for admitted calls only");
    return admission;
  }

  /** To be called when no call is open any more. */
  stop(): void {
    clearInterval(this.#looking);
  }

  /** It must be the last interceptor: what it refuses passes the others on its way to the client. */
  get interceptor(): ServerInterceptor {
    return (method, call) => {
      this.#receive(method, call as ServerInterceptingCall);
      // The call itself: a wrapper around it would cost every message another round of callbacks.
      return call as ServerInterceptingCall;
    };
  }

  #receive(method: Method, call: ServerInterceptingCall): void {
    const stream = streamOf(call);
    stamp("call.arrived", stream.id);
    const session = stream.session as ServerHttp2Session;
    const connection = this.#connectionOf(session);
    const open = this.#open.arrive(connection.address);
    const dueMs = this.#nowMs() + REQUEST_MS;
    const incoming = new IncomingCall(
      call,
      stream,
      { open, isRepeated: method.requestStream, dueMs },
      {
        admit: (metadata) => this.#admit(incoming, method, connection, metadata),
        refuse: (error) => {
          this.#refuse(incoming, method, error);
          if (++connection.refusals > UNVERIFIED_REFUSALS_MAX && !connection.isVerified) {
            this.#cut(session);
          }
        },
        onComplete: () => this.#due.remove(incoming),
      },
    );
    this.#due.push(incoming);
    stream.once("close", () => {
      open.leave();
      this.#due.remove(incoming);
      // Sessions keep streams in a Map, and so in memory until the next full collection: this one lets go of the call.
      stream.removeAllListeners().on("error", ignore);
    });
    if (open.isBeyondUnverified(connection.isVerified ? VERIFIED_FACTOR : 1)) {
      open.unverifiedRefusal();
      this.#cut(session);
    }
  }

  #connectionOf(session: ServerHttp2Session): Connection {
    let connection = this.#connections.get(session);
    if (connection === undefined) {
      connection = { address: clientOf(session.socket.remoteAddress ?? ""), isVerified: false, refusals: 0 };
      this.#connections.set(session, connection);
    }
    return connection;
  }

  /** Steps 1 to 3 of the contract, then the limits. Raises the refusal, at once or later. */
  #admit(
    { open, deadline, stream }: IncomingCall,
    { path, responseStream }: Method,
    connection: Connection,
    metadata: Metadata,
  ): undefined | Promise<undefined> {
    if (open.isBeyondUnverified(1)) {
      throw open.unverifiedRefusal();
    }
    if (!this.#guarded.has(path)) {
      open.admitOpen();
      return undefined;
    }
    const { access, clock } = this.#options;
    const resume = (caller: Caller): undefined => {
      connection.isVerified = true;
      requireApiVersion(metadata);
      const id = this.#options.requestId === "required" ? requireRequestId(metadata) : requestId(metadata);
      open.admit(responseStream ? "streams" : "calls", caller.principal.subject);
      this.#admissions.set(metadata, { caller, requestId: id });
      stamp("call.admitted", stream.id, 0, 0, id);
    };
    const deadlineMs = clock.monotonicMs() + allowedMs(deadline, Date.now());
    const caller = access.authenticate(metadata.get("authorization").map(String), deadlineMs);
    return caller instanceof Promise ? caller.then(resume) : resume(caller);
  }

  #refuse(incoming: IncomingCall, { path }: Method, error: Error): void {
    if (error instanceof InvariantViolation) {
      endProcess(error);
      return;
    }
    if (!(error instanceof CoordinationError)) {
      this.#options.logger.error({ err: error, method: path }, "the headers of a call met a bug");
    }
    // From now on the client has so long to let go of it.
    this.#due.remove(incoming);
    incoming.dueMs = this.#nowMs() + REQUEST_MS;
    this.#due.push(incoming);
    incoming.open.refuse();
    incoming.answer(error, this.#options.leaderEndpoint());
  }

  /** Refuses what is late, and cuts connections that keep what was refused. */
  #look(): void {
    const nowMs = this.#nowMs();
    for (let incoming = this.#due.first; incoming !== null && incoming.dueMs <= nowMs; incoming = this.#due.first) {
      this.#due.remove(incoming);
      if (incoming.isRefused) {
        this.#cut(incoming.stream.session as ServerHttp2Session | undefined);
      } else {
        this.#refuse(incoming, { path: "" } as Method, incoming.open.lateRefusal());
      }
    }
  }

  #cut(session: ServerHttp2Session | undefined): void {
    if (session !== undefined && !session.destroyed) {
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
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
