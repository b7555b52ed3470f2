/**
 * A gRPC call from its headers to the end of its stream: the part that is the same on every host. Its headers have
 * arrived; its message may never arrive.
 *
 * The host reports what arrives, and passes the request to the method only if the call allows it. A refused call passes
 * nothing on, so it is certainly not executed. Its end is counted exactly once: with the status that was sent, or as
 * CANCELLED if the client had gone before.
 */

import { decodeRequest, MalformedMessageError, type MessageCodec } from "@quoin/proto";
import { Links } from "../../collections/index.ts";
import { CoordinationError, type Replayed } from "../../state/index.ts";
import type { RequestTrace } from "../../tracing/index.ts";
import { toError } from "../methods/index.ts";
import type { AnsweredCall, CallHandler } from "./answered-call.ts";
import type { CallMethod } from "./call-method.ts";
import type { CallObserver, CallProtocol } from "./call-observer.ts";
import type { ClientConnection } from "./client-connection.ts";
import { deadlineExceeded, startDeadline } from "./deadline.ts";
import type { ErrorLog } from "./error-log.ts";
import { REQUEST_FIELDS_MAX } from "./grpc-limits.ts";
import { type StatusCode, status } from "./grpc-status.ts";
import type { OpenCall } from "./open-calls.ts";
import { reportBug, UNKNOWN_ERROR } from "./report-bug.ts";
import { type CallStatus, errorStatus, plainStatus } from "./status.ts";

/** The checks of each call when its headers arrive. */
export interface CallChecks {
  /** Counts the call. May close its connection. */
  arrive(call: IncomingCall): OpenCall;
  /** Returns if the call is admitted; throws or rejects with the refusal otherwise. */
  admit(call: IncomingCall): undefined | Promise<undefined>;
  /** Ends the call with this error. May close its connection. */
  refuse(call: IncomingCall, error: Error): void;
  /** Counts the refusal of a request that is no call of a method, or has malformed headers. May close its connection. */
  refuseRequest(connection: ClientConnection): void;
  /** Called when the request is complete. */
  complete(call: IncomingCall): void;
  /** Called when the stream is closed. */
  close(call: IncomingCall): void;
}

/** What all calls of a port share. */
export interface CallPort {
  readonly callAdmission: CallChecks;
  readonly observer: CallObserver;
  readonly log: ErrorLog;
  /** host:port of the leader's port for this kind of calls, or null if none is known. */
  leaderEndpoint(): string | null;
}

/** The maximum of a timer. A deadline beyond it has no effect, because the maximum of a call is shorter. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export abstract class IncomingCall implements AnsweredCall<unknown> {
  readonly method: CallMethod;
  readonly connection: ClientConnection;
  readonly open: OpenCall;
  /** Its place among the calls that are due. */
  readonly links = new Links<IncomingCall>();
  /** When the request must be complete or, after a refusal, closed. On the monotonic clock. */
  dueMs = 0;
  admission: unknown = null;
  trace: RequestTrace | null = null;
  onEnded: (() => void) | null = null;
  readonly deadline: number;
  /** The time that the client allows, in milliseconds; infinity = it does not say, null = it cannot be read. */
  protected readonly timeoutMs: number | null;
  readonly #port: CallPort;
  readonly #startedMs: number;
  #timer: NodeJS.Timeout | undefined;
  #hasMessage = false;
  #isComplete = false;
  #isRefused = false;
  #isCounted = false;
  #hasEnded = false;
  #isClosed = false;

  constructor(port: CallPort, method: CallMethod, connection: ClientConnection, timeoutMs: number | null) {
    this.#port = port;
    this.method = method;
    this.connection = connection;
    this.timeoutMs = timeoutMs;
    this.deadline = timeoutMs === Infinity ? Infinity : Date.now() + (timeoutMs ?? 0);
    this.#startedMs = port.observer.monotonicMs();
    port.observer.begin(method.calls);
    this.open = port.callAdmission.arrive(this);
  }

  /** For the log. */
  get protocol(): CallProtocol {
    return "grpc";
  }

  /** All values of a field of its headers, in their order. */
  abstract values(name: string): readonly string[];
  abstract answer(response: unknown, replayed: Replayed): void;
  abstract send(message: Uint8Array, taken: () => void): void;
  abstract end(status: CallStatus): void;
  /** Called when the headers are admitted: the request may be passed on. */
  protected abstract pass(): void;
  /** Whether the stream has ended, so that nothing can be sent. */
  protected abstract get isGone(): boolean;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  leaderEndpoint(): string | null {
    return this.#port.leaderEndpoint();
  }

  decode<Request>(codec: MessageCodec<Request>, request: Buffer, fieldsMax = REQUEST_FIELDS_MAX): Request {
    return decodeMessage(codec, request, fieldsMax);
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Whether the request is complete. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Ends the call with the refusal. */
  answerRefusal(error: Error): void {
    this.#isRefused = true;
    this.end(errorStatus(error, "no", this.leaderEndpoint()));
  }

  /** Ends the call because its headers are malformed, before any other check. */
  protected refuseHeaders(answer: CallStatus): void {
    this.trace = this.beginTrace(this.#startedMs);
    this.end(answer);
    this.#port.callAdmission.refuseRequest(this.connection);
  }

  /** Checks the headers. Then `pass` is called, or the call ends, at the client's deadline at the latest. */
  protected receiveHeaders(): void {
    if (this.timeoutMs !== null && this.timeoutMs <= TIMER_MS_MAX) {
      this.endAfter(this.timeoutMs);
    }
    this.trace = this.beginTrace(this.#startedMs);
    try {
      const pending = this.#port.callAdmission.admit(this);
      if (pending === undefined) {
        this.#pass();
      } else {
        pending.then(() => this.#pass()).catch((error: unknown) => this.#refuse(error));
      }
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Begins the trace of the call; null = it has none. */
  protected beginTrace(startedMs: number): RequestTrace | null {
    return this.#port.observer.traceOf(this, startedMs);
  }

  /** Counts bytes of the request that have arrived. */
  protected receiveBytes(count: number): void {
    if (this.#isRefused) {
      return;
    }
    try {
      this.open.addBytes(count);
    } catch (error) {
      this.#port.callAdmission.refuse(this, toError(error));
    }
  }

  /** Notes that a complete message has arrived. Returns whether it may be passed on. */
  protected receiveMessage(): boolean {
    this.#hasMessage = true;
    if (this.method.requestStream) {
      this.#complete();
    }
    return !this.#isRefused;
  }

  /** Notes that the request has ended. Returns whether that may be passed on. */
  protected receiveEnd(): boolean {
    this.#complete();
    if (this.#isRefused) {
      return false;
    }
    if (!this.#hasMessage && !this.method.requestStream) {
      this.refuseIncomplete();
      return false;
    }
    return true;
  }

  /** Refuses a request that has ended within a message. */
  protected refuseIncomplete(): void {
    this.#port.callAdmission.refuse(
      this,
      new CoordinationError("BAD_FIELD", "the request ended before its message was complete"),
    );
  }

  /** Ends the call after this many milliseconds, with the answer for a missed deadline. */
  protected endAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = startDeadline(this.connection.owner, ms, () => {
      this.end(errorStatus(deadlineExceeded(), "no", this.leaderEndpoint()));
    });
  }

  /** Stops the timer of `endAfter`, because the call has an end or its handler watches the deadline. */
  protected stopTimer(): void {
    clearTimeout(this.#timer);
  }

  /** Passes the request to the handler. From now on the handler of a unary call watches the deadline. */
  protected run(handler: CallHandler<unknown>, message: Buffer): void {
    if (!this.method.responseStream) {
      this.stopTimer();
    }
    this.attempt(() => handler(this, message));
  }

  /** Handlers should not throw. If one does, only its call ends. */
  protected attempt(start: () => void): void {
    try {
      start();
    } catch (error) {
      reportBug(error, this.#port.log, this.method.path);
      this.end(UNKNOWN_ERROR);
    }
  }

  /** Encodes a response. If it cannot be encoded, which is a bug, the call ends, and the result is null. */
  protected encoded<Response>(response: Response, encode: (response: Response) => Uint8Array): Uint8Array | null {
    try {
      return encode(response);
    } catch (error) {
      this.#port.log.error({ err: error, method: this.method.path }, "a response cannot be encoded");
      this.end(plainStatus(status.INTERNAL, "Error serializing response"));
      return null;
    }
  }

  /** Counts the end of the call with this status, once. */
  protected countEnd(code: StatusCode, reason: string): void {
    if (!this.#isCounted) {
      this.#isCounted = true;
      this.#port.observer.end(this.method.calls, this.#startedMs, { code, reason, call: this });
    }
  }

  /** Ends the call: the client has the complete answer, or has gone. */
  protected finish(): void {
    if (this.#hasEnded) {
      return;
    }
    this.#hasEnded = true;
    this.countEnd(status.CANCELLED, "");
    const { onEnded } = this;
    this.onEnded = null;
    onEnded?.();
  }

  /** Notes that the stream is closed. */
  protected close(): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#port.callAdmission.close(this);
    }
  }

  #pass(): void {
    if (!this.#isRefused && !this.isGone) {
      if (this.trace !== null) {
        this.trace.admittedMs = this.#port.observer.monotonicMs();
      }
      this.pass();
    }
  }

  #refuse(error: unknown): void {
    if (!this.#isRefused && !this.isGone) {
      this.#port.callAdmission.refuse(this, toError(error));
    }
  }

  #complete(): void {
    if (!this.#isComplete) {
      this.#isComplete = true;
      if (this.trace !== null) {
        this.trace.completeMs = this.#port.observer.monotonicMs();
      }
      this.#port.callAdmission.complete(this);
    }
  }
}

/** Decodes an encoded request strictly. Throws BAD_FIELD, with the field if one is wrong. */
function decodeMessage<Request>(codec: MessageCodec<Request>, bytes: Buffer, fieldsMax: number): Request {
  try {
    return decodeRequest(codec, bytes, fieldsMax);
  } catch (error) {
    if (error instanceof MalformedMessageError) {
      const details = new Map(error.field === undefined ? [] : [["field", error.field]]);
      const hasTooMany = error.problem === "fields";
      const message = hasTooMany ? `the request must have at most ${fieldsMax} fields` : error.message;
      throw new CoordinationError("BAD_FIELD", message, { details });
    }
    throw error;
  }
}
