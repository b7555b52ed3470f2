/**
 * A call of gRPC from its headers to the end of its stream, as far as it is the same on every host: its headers have come,
 * its message may never come.
 *
 * The host calls it with what arrives, and hands the request to the method only as far as it says. A call that was refused
 * hands nothing on any more, so it is certainly not executed. Its end is counted exactly once: with the status that was
 * sent, or as CANCELLED if the client was gone before.
 */

import { status } from "@grpc/grpc-js";
import { Links } from "../../collections/index.ts";
import { CoordinationError, type Replayed } from "../../state/index.ts";
import { toError } from "../methods/index.ts";
import type { AnsweredCall } from "./answered-call.ts";
import type { CallMethod } from "./call-method.ts";
import type { CallObserver, MethodCalls } from "./call-observer.ts";
import type { ClientConnection } from "./client-connection.ts";
import { deadlineExceeded } from "./deadline.ts";
import type { OpenCall } from "./open-calls.ts";
import { type CallStatus, errorStatus } from "./status.ts";

/** What looks at each call when its headers come. */
export interface CallChecks {
  /** Counts the call. May cut its connection. */
  arrive(call: IncomingCall): OpenCall;
  /** Raises the refusal of the call, at once or later. */
  admit(call: IncomingCall): undefined | Promise<undefined>;
  /** Something is wrong with the call: ends it. May cut its connection. */
  refuse(call: IncomingCall, error: Error): void;
  /** The request has come whole. */
  complete(call: IncomingCall): void;
  /** The stream is closed. */
  leave(call: IncomingCall): void;
}

/** What all calls of a port go through. */
export interface CallPort {
  readonly intake: CallChecks;
  readonly observer: CallObserver;
  /** host:port of the leader's gRPC port, or null if none is known. */
  leaderEndpoint(): string | null;
}

export abstract class IncomingCall implements AnsweredCall<unknown> {
  readonly method: CallMethod;
  readonly connection: ClientConnection;
  readonly streamId: number;
  readonly open: OpenCall;
  /** Its place among the calls that are due. */
  readonly links = new Links<IncomingCall>();
  /** When the request must be complete, or once it is refused, closed. On the monotonic clock. */
  dueMs = 0;
  admission: unknown = null;
  onOver: (() => void) | null = null;
  readonly #port: CallPort;
  readonly #calls: MethodCalls;
  readonly #startedMs: number;
  #hasMessage = false;
  #isComplete = false;
  #isRefused = false;
  #isCounted = false;
  #isOver = false;
  #hasLeft = false;

  /** @param streamId number of its stream on the connection. */
  constructor(port: CallPort, method: CallMethod, connection: ClientConnection, streamId: number) {
    this.#port = port;
    this.method = method;
    this.connection = connection;
    this.streamId = streamId;
    this.#startedMs = port.observer.monotonicMs();
    this.#calls = port.observer.begin(method);
    this.open = port.intake.arrive(this);
  }

  abstract get deadline(): number;
  /** All values of a field of its headers, in their order. */
  abstract values(name: string): readonly string[];
  abstract answer(response: unknown, replayed: Replayed): void;
  abstract send(message: Uint8Array, taken: () => void): void;
  abstract end(status: CallStatus): void;
  /** The headers are admitted: the request may be handed on. */
  protected abstract pass(): void;
  /** Whether the stream has ended, so that nothing can be sent. */
  protected abstract get isGone(): boolean;

  get isOver(): boolean {
    return this.#isOver;
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Whether the request has come whole. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Ends the call with the refusal. */
  answerRefusal(error: Error): void {
    this.#isRefused = true;
    this.end(errorStatus(error, "no", this.#port.leaderEndpoint()));
  }

  /** Looks at the headers. `pass` follows, or the end. */
  protected receiveHeaders(): void {
    try {
      const pending = this.#port.intake.admit(this);
      if (pending === undefined) {
        this.#pass();
      } else {
        pending.then(() => this.#pass()).catch((error: unknown) => this.#refuse(error));
      }
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** So many bytes of the request have come. */
  protected receiveBytes(count: number): void {
    if (this.#isRefused) {
      return;
    }
    try {
      this.open.addBytes(count);
    } catch (error) {
      this.#port.intake.refuse(this, toError(error));
    }
  }

  /** A message has come whole. Returns whether it may be handed on. */
  protected receiveMessage(): boolean {
    this.#hasMessage = true;
    if (this.method.requestStream) {
      this.#complete();
    }
    return !this.#isRefused;
  }

  /** The request has ended. Returns whether that may be handed on. */
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

  /** The request has ended within a message. */
  protected refuseIncomplete(): void {
    this.#port.intake.refuse(
      this,
      new CoordinationError("BAD_FIELD", "the request ended before its message was complete"),
    );
  }

  /** What is answered when the deadline of the client has passed, and nothing else has answered. */
  protected missedDeadline(): CallStatus {
    return errorStatus(deadlineExceeded(), "no", this.#port.leaderEndpoint());
  }

  /** The call ends with this status. */
  protected countEnd(code: status, reason: string): void {
    if (!this.#isCounted) {
      this.#isCounted = true;
      this.#port.observer.end(this.#calls, this.#startedMs, { code, reason, call: this });
    }
  }

  /** The client has the whole answer, or is not there any more. */
  protected finish(): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    this.countEnd(status.CANCELLED, "");
    const { onOver } = this;
    this.onOver = null;
    onOver?.();
  }

  /** The stream is closed. */
  protected leave(): void {
    if (!this.#hasLeft) {
      this.#hasLeft = true;
      this.#port.intake.leave(this);
    }
  }

  #pass(): void {
    if (!this.#isRefused && !this.isGone) {
      this.pass();
    }
  }

  #refuse(error: unknown): void {
    if (!this.#isRefused && !this.isGone) {
      this.#port.intake.refuse(this, toError(error));
    }
  }

  #complete(): void {
    if (!this.#isComplete) {
      this.#isComplete = true;
      this.#port.intake.complete(this);
    }
  }
}
