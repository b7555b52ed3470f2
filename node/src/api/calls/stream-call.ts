/**
 * One call that is answered with a stream, from its message to its end.
 *
 * Its headers are checked already. It makes the other checks like a unary call, and passes the request to its method,
 * which sends messages whenever it has them. The deadline of the contract bounds the opening. The stream itself lasts
 * until the client, the client's own deadline, or the method ends it. It ends once; later messages are dropped.
 */

import { InvariantViolation } from "../../primitives/index.ts";
import { CoordinationError, type Principal } from "../../state/index.ts";
import { type Call, type FiniteStream, toError } from "../methods/index.ts";
import type { AnsweredCall } from "./answered-call.ts";
import { CheckedCall, type PortContext, type RequestForm } from "./checked-call.ts";
import { allowedMs, deadlineExceeded } from "./deadline.ts";
import { endProcess } from "./end-process.ts";
import { status } from "./grpc-status.ts";
import { errorStatus, plainStatus } from "./status.ts";

/** What all calls of a method share. */
export interface StreamMethod<Request> extends RequestForm<Request> {
  /** Full name, such as /coordination.v1.WatchService/WatchKeys. */
  readonly path: string;
  handle(call: Call, request: Request, stream: FiniteStream): void;
}

export class StreamCall<Caller extends { readonly principal: Principal }, Request>
  extends CheckedCall<Caller>
  implements FiniteStream
{
  readonly #method: StreamMethod<Request>;
  readonly #call: AnsweredCall<never>;
  readonly #bytes: Buffer;
  readonly #allowedMs: number;
  /** On the monotonic clock: when the stream must be open. */
  readonly deadlineMs: number;
  /** The member has ended the stream; messages that are not taken yet may still wait. */
  #isEnding = false;
  #isClosed = false;
  readonly #onEnded: (() => void)[] = [];

  /** @param bytes the encoded request. */
  constructor(port: PortContext<Caller>, method: StreamMethod<Request>, call: AnsweredCall<never>, bytes: Buffer) {
    super(port, method.path, call);
    this.#method = method;
    this.#call = call;
    this.#bytes = bytes;
    this.#allowedMs = allowedMs(call.deadline, Date.now());
    this.deadlineMs = port.clock.monotonicMs() + this.#allowedMs;
  }

  get isGone(): boolean {
    return this.hasEnded;
  }

  get hasEnded(): boolean {
    return this.#isEnding || this.#isClosed;
  }

  onEnded(callback: () => void): void {
    if (this.#isClosed) {
      callback();
    } else {
      this.#onEnded.push(callback);
    }
  }

  /** Makes check 4 and continues. A call whose deadline has passed already is never executed. */
  start(): void {
    this.#call.onEnded = () => this.#close();
    if (this.#allowedMs <= 0) {
      this.fail(deadlineExceeded());
      return;
    }
    try {
      this.port.limiter?.take(this.principal.subject);
      this.#method.handle(this, this.decode(this.#method, this.#call, this.#bytes), this);
    } catch (error) {
      this.fail(toError(error));
    }
  }

  send(message: Uint8Array, taken: () => void): void {
    if (!this.hasEnded) {
      this.#call.send(message, taken);
    }
  }

  end(): void {
    if (!this.hasEnded) {
      this.#isEnding = true;
      this.#call.end(plainStatus(status.OK, ""));
    }
  }

  fail(error: CoordinationError | Error): void {
    if (error instanceof InvariantViolation) {
      endProcess(error);
      return;
    }
    if (!(error instanceof CoordinationError)) {
      this.report(error);
    }
    if (this.hasEnded) {
      return;
    }
    this.#isEnding = true;
    this.#call.end(errorStatus(error, "no", this.#call.leaderEndpoint()));
  }

  #close(): void {
    this.#isClosed = true;
    for (const callback of this.#onEnded.splice(0)) {
      callback();
    }
  }
}
