/**
 * One call that is answered with a stream, from its metadata to its end.
 *
 * It runs the first checks of the contract as a unary call does, and hands the request to its method, which sends what it
 * has when it has it. The deadline of the contract bounds the opening; the stream itself lasts until the client, the
 * client's own deadline, or the method ends it. It ends once, and what comes later is dropped.
 */

import { createHash } from "node:crypto";
import type { ServerWritableStream } from "@grpc/grpc-js";
import type { MessageCodec } from "@quoin/proto";
import { InvariantViolation, invariant } from "../../raft/index.ts";
import { CoordinationError, type Need, type Principal, type RequestIdentity } from "../../state/index.ts";
import { type Call, type ResponseStream, toError } from "../methods/index.ts";
import { allowedMs } from "./deadline.ts";
import { requestId, requestIdBytes, requireApiVersion, requireRequestId } from "./metadata-contract.ts";
import { errorStatus } from "./status.ts";
import { decode, endProcess, type PortContext } from "./unary-call.ts";

/** What all calls of a method share. */
export interface StreamMethod<Request> {
  /** Full name, such as /coordination.v1.WatchService/WatchKeys. */
  readonly path: string;
  readonly codec: MessageCodec<Request>;
  handle(call: Call, request: Request, stream: ResponseStream): void;
}

export class StreamCall<Caller extends { readonly principal: Principal }, Request> implements Call, ResponseStream {
  readonly #port: PortContext<Caller>;
  readonly #method: StreamMethod<Request>;
  readonly #call: ServerWritableStream<Buffer, Buffer>;
  /** On the monotonic clock: until when the stream must be open. */
  readonly deadlineMs: number;
  #caller: Caller | undefined;
  #requestId: string | undefined;
  /** It was ended here; messages that are not taken yet may still be on their way. */
  #isEnding = false;
  #isClosed = false;
  readonly #onOver: (() => void)[] = [];

  constructor(port: PortContext<Caller>, method: StreamMethod<Request>, call: ServerWritableStream<Buffer, Buffer>) {
    this.#port = port;
    this.#method = method;
    this.#call = call;
    this.deadlineMs = port.clock.monotonicMs() + allowedMs(call.getDeadline(), Date.now());
  }

  get principal(): Principal {
    return this.#authenticated().principal;
  }

  authorize(need: Need | null): undefined | Promise<void> {
    return this.#port.access.authorize(this.#authenticated(), need, this.deadlineMs);
  }

  recheck(need: Need | null): void {
    this.#port.access.recheck(this.#authenticated(), need);
  }

  get hasRequestId(): boolean {
    return this.#requestId !== undefined;
  }

  identity(): RequestIdentity {
    invariant(this.#requestId !== undefined, "a mutation that is to be recognised has a request id");
    const payloadHash = createHash("sha256").update(`${this.#method.path}\0`).update(this.#call.request).digest();
    return { requestId: requestIdBytes(this.#requestId), payloadHash };
  }

  get isOver(): boolean {
    return this.#isEnding || this.#isClosed;
  }

  onOver(callback: () => void): void {
    if (this.#isClosed) {
      callback();
    } else {
      this.#onOver.push(callback);
    }
  }

  /** Begins the checks. */
  start(): void {
    // The library says so of every call that is over, also of those that nobody has cancelled.
    this.#call.on("cancelled", () => this.#close());
    try {
      const authorization = this.#call.metadata.get("authorization").map(String);
      const caller = this.#port.access.authenticate(authorization, this.deadlineMs);
      if (caller instanceof Promise) {
        caller.then(
          (known) => this.#resume(known),
          (error: unknown) => this.fail(toError(error)),
        );
      } else {
        this.#proceed(caller);
      }
    } catch (error) {
      this.fail(toError(error));
    }
  }

  send(message: Uint8Array, taken: () => void): void {
    if (this.isOver) {
      return;
    }
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    this.#call.write(bytes, (error: Error | null | undefined) => {
      if (!error) {
        taken();
      }
    });
  }

  fail(error: CoordinationError | Error): void {
    if (error instanceof InvariantViolation) {
      endProcess(error);
      return;
    }
    if (!(error instanceof CoordinationError)) {
      const fields = { err: error, method: this.#method.path, requestId: this.#requestId };
      this.#port.logger.error(fields, "a request failed because of a bug");
    }
    if (this.isOver) {
      return;
    }
    this.#isEnding = true;
    this.#call.emit("error", errorStatus(error, "no", this.#port.leaderEndpoint()));
  }

  /** Goes on once it is known who calls, unless the client is gone. */
  #resume(caller: Caller): void {
    if (this.isOver) {
      return;
    }
    try {
      this.#proceed(caller);
    } catch (error) {
      this.fail(toError(error));
    }
  }

  #proceed(caller: Caller): void {
    this.#caller = caller;
    const { metadata } = this.#call;
    requireApiVersion(metadata);
    this.#requestId = this.#port.requestId === "required" ? requireRequestId(metadata) : requestId(metadata);
    this.#port.limiter?.take(caller.principal.subject);
    this.#method.handle(this, decode(this.#method.codec, this.#call.request), this);
  }

  #authenticated(): Caller {
    invariant(this.#caller !== undefined, "methods are called for authenticated callers only");
    return this.#caller;
  }

  #close(): void {
    this.#isClosed = true;
    for (const callback of this.#onOver.splice(0)) {
      callback();
    }
  }
}
