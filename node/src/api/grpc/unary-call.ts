/**
 * One unary call, from its metadata to its answer.
 *
 * It runs the first checks of the contract in their order (1 token, 2 api-version, 3 request-id, 4 rate limit and
 * decoding) and hands the request to its method, which does the others. It answers exactly once; what comes after the
 * deadline is dropped.
 * No exception leaves it into the code that called it: a refusal is answered, a bug is answered as INTERNAL and logged,
 * and a broken invariant ends the process.
 */

import { createHash } from "node:crypto";
import type { ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { decodeRequest, MalformedMessageError, type MessageCodec } from "@quoin/proto";
import type { RateLimiter } from "../../access/index.ts";
import { InvariantViolation, invariant } from "../../raft/index.ts";
import type { Clock } from "../../replica/index.ts";
import {
  CoordinationError,
  type Need,
  type Principal,
  type Replayed,
  type RequestIdentity,
} from "../../state/index.ts";
import { attempt, type CancellableCall, type Reply, toError } from "../methods/index.ts";
import type { CallerAccess } from "./caller-access.ts";
import { allowedMs, deadlineExceeded } from "./deadline.ts";
import type { ErrorLog } from "./error-log.ts";
import { requestId, requestIdBytes, requireApiVersion, requireRequestId } from "./metadata-contract.ts";
import { errorStatus, replayedMetadata } from "./status.ts";

/** What all calls of a port share. */
export interface PortContext<Caller extends { readonly principal: Principal }> {
  readonly access: CallerAccess<Caller>;
  readonly requestId: "required" | "optional";
  /** Who has called how often; null where nobody is limited. */
  readonly limiter: RateLimiter | null;
  readonly clock: Clock;
  readonly logger: ErrorLog;
  /** host:port of the leader's gRPC port, or null if none is known. */
  leaderEndpoint(): string | null;
}

/** What all calls of a method share. */
export interface UnaryMethod<Request, Response> {
  /** Full name, such as /coordination.v1.KeyValueService/PutKey. */
  readonly path: string;
  readonly codec: MessageCodec<Request>;
  /** Milliseconds that the request asks to wait for a lock; they prolong the deadline. */
  readonly waitMs?: (request: Request) => number;
  /** Whether a request is never limited, because others would wait for what it does; without it none is. */
  readonly isUnlimited?: (request: Request) => boolean;
  handle(call: CancellableCall, request: Request, reply: Reply<Response>): void;
}

export class UnaryCall<Caller extends { readonly principal: Principal }, Request, Response> implements CancellableCall {
  readonly #port: PortContext<Caller>;
  readonly #method: UnaryMethod<Request, Response>;
  readonly #call: ServerUnaryCall<Buffer, Response>;
  readonly #respond: sendUnaryData<Response>;
  /** Date.now() and the monotonic clock at its begin. */
  readonly #startedWallMs = Date.now();
  readonly #startedMs: number;
  #allowedMs: number;
  #timer: NodeJS.Timeout | undefined;
  #caller: Caller | undefined;
  #requestId: string | undefined;
  #answered = false;
  /** To be called when the client is not there any more. */
  #onGone: (() => void) | undefined;

  constructor(
    port: PortContext<Caller>,
    method: UnaryMethod<Request, Response>,
    call: ServerUnaryCall<Buffer, Response>,
    respond: sendUnaryData<Response>,
  ) {
    this.#port = port;
    this.#method = method;
    this.#call = call;
    this.#respond = respond;
    this.#startedMs = port.clock.monotonicMs();
    this.#allowedMs = allowedMs(call.getDeadline(), this.#startedWallMs);
  }

  /** On the monotonic clock. */
  get deadlineMs(): number {
    return this.#startedMs + this.#allowedMs;
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

  onGone(listener: () => void): void {
    if (this.#answered || this.#call.cancelled) {
      listener();
      return;
    }
    this.#onGone = listener;
    this.#call.once("cancelled", () => this.#leave());
  }

  identity(): RequestIdentity {
    invariant(this.#requestId !== undefined, "a mutation that is to be recognised has a request id");
    // The path ends at the first NUL, so no two methods and requests have the same bytes.
    const payloadHash = createHash("sha256").update(`${this.#method.path}\0`).update(this.#call.request).digest();
    return { requestId: requestIdBytes(this.#requestId), payloadHash };
  }

  /** Begins the checks. A call whose deadline has passed already is never executed. */
  start(): void {
    if (this.#allowedMs <= 0) {
      this.#answer(deadlineExceeded(), "no");
      return;
    }
    this.#startTimer();
    try {
      const authorization = this.#call.metadata.get("authorization").map(String);
      const caller = this.#port.access.authenticate(authorization, this.deadlineMs);
      if (caller instanceof Promise) {
        caller.then(
          (known) => this.#resume(known),
          (error: unknown) => this.#fail(error),
        );
      } else {
        this.#proceed(caller);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Waits for the deadline, which may have come nearer or gone further away. */
  #startTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#leave();
        this.#answer(deadlineExceeded(), "no");
      },
      Math.max(0, this.deadlineMs - this.#port.clock.monotonicMs()),
    );
  }

  /** Nobody waits for an answer any more. */
  #leave(): void {
    if (!this.#answered) {
      this.#onGone?.();
    }
  }

  /** Goes on once it is known who calls, unless the deadline has passed meanwhile or the client is gone. */
  #resume(caller: Caller): void {
    if (this.#answered || this.#call.cancelled) {
      clearTimeout(this.#timer);
      return;
    }
    try {
      this.#proceed(caller);
    } catch (error) {
      this.#fail(error);
    }
  }

  #proceed(caller: Caller): void {
    this.#caller = caller;
    const { metadata } = this.#call;
    requireApiVersion(metadata);
    this.#requestId = this.#port.requestId === "required" ? requireRequestId(metadata) : requestId(metadata);
    const request = this.#decodeLimited(caller);
    const waitMs = this.#method.waitMs?.(request) ?? 0;
    if (waitMs > 0) {
      this.#allowedMs = allowedMs(this.#call.getDeadline(), this.#startedWallMs, waitMs);
      this.#startTimer();
    }
    this.#method.handle(this, request, (answer, replayed) => this.#answer(answer, replayed));
  }

  /** The request, once its caller has not called too often: a limit precedes what is wrong with the bytes. */
  #decodeLimited({ principal }: Caller): Request {
    const { limiter } = this.#port;
    const { codec, isUnlimited } = this.#method;
    if (limiter === null || isUnlimited === undefined) {
      limiter?.take(principal.subject);
      return decode(codec, this.#call.request);
    }
    const request = attempt(() => decode(codec, this.#call.request));
    if (request instanceof Error) {
      limiter.take(principal.subject);
      throw request;
    }
    if (!isUnlimited(request)) {
      limiter.take(principal.subject);
    }
    return request;
  }

  #authenticated(): Caller {
    invariant(this.#caller !== undefined, "methods are called for authenticated callers only");
    return this.#caller;
  }

  #fail(thrown: unknown): void {
    this.#answer(toError(thrown), "no");
  }

  #answer(answer: Response | Error, replayed: Replayed): void {
    if (answer instanceof InvariantViolation) {
      clearTimeout(this.#timer);
      endProcess(answer);
      return;
    }
    if (answer instanceof Error && !(answer instanceof CoordinationError)) {
      this.#report(answer);
    }
    if (this.#answered) {
      return;
    }
    this.#answered = true;
    clearTimeout(this.#timer);
    if (answer instanceof Error) {
      this.#respond(errorStatus(answer, replayed, this.#port.leaderEndpoint()));
      return;
    }
    const metadata = replayedMetadata(replayed);
    if (metadata !== null) {
      this.#call.sendMetadata(metadata);
    }
    this.#respond(null, answer);
  }

  /** For the operator's log: the method and the request id, never what was in the request. */
  #report(error: Error): void {
    const fields = { err: error, method: this.#method.path, requestId: this.#requestId };
    this.#port.logger.error(fields, "a request failed because of a bug");
  }
}

/** The request of these bytes. Raises BAD_FIELD, with the field where one is to blame. */
export function decode<Request>(codec: MessageCodec<Request>, bytes: Buffer): Request {
  try {
    return decodeRequest(codec, bytes);
  } catch (error) {
    if (error instanceof MalformedMessageError) {
      const details = new Map(error.field === undefined ? [] : [["field", error.field]]);
      throw new CoordinationError("BAD_FIELD", error.message, { details });
    }
    throw error;
  }
}

/** Ends the process: throws where nobody can catch it: the library answers what its handlers throw, and would go on. */
export function endProcess(violation: InvariantViolation): void {
  process.nextTick(() => {
    throw violation;
  });
}
