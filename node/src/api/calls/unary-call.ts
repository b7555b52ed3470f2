/**
 * One unary call, from its message to its answer.
 *
 * Its headers are checked already. It makes check 4 of the contract (rate limit and decoding), and passes the request
 * to its method, which makes the other checks. It answers exactly once; an answer after the deadline is dropped.
 *
 * It throws nothing to its caller. It answers a refusal, answers a bug as INTERNAL and logs it, and ends the process
 * after a broken invariant.
 */

import type { RateLimiter } from "../../access/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { CoordinationError, type Principal, type Replayed } from "../../state/index.ts";
import { attempt, type CancellableCall, type OpenCall, type Reply, toError } from "../methods/index.ts";
import type { AnsweredCall } from "./answered-call.ts";
import { CheckedCall, type PortContext, type RequestForm } from "./checked-call.ts";
import { allowedMs, deadlineExceeded, startDeadline } from "./deadline.ts";
import { endProcess } from "./end-process.ts";
import { errorStatus } from "./status.ts";

/** What all calls of a method share. */
export interface UnaryMethod<Request, Response> extends RequestForm<Request> {
  /** Full name, such as /coordination.v1.KeyValueService/PutKey. */
  readonly path: string;
  /** Milliseconds that the request may wait for a lock; they extend the deadline. */
  readonly waitMs?: (request: Request) => number;
  /**
   * Whether the rate limit does not apply to a request, because other clients wait for its effect. Absent = it applies.
   */
  readonly isUnlimited?: (request: Request) => boolean;
  /** The limit for each client address of a method that needs no token. Absent = it needs one. */
  readonly addressLimiter?: RateLimiter;
  handle(call: CancellableCall & OpenCall, request: Request, reply: Reply<Response>): void;
}

export class UnaryCall<Caller extends { readonly principal: Principal }, Request, Response>
  extends CheckedCall<Caller>
  implements CancellableCall, OpenCall
{
  readonly #method: UnaryMethod<Request, Response>;
  readonly #call: AnsweredCall<Response>;
  readonly #bytes: Buffer;
  /** Date.now() and the monotonic clock when the call began. */
  readonly #startedWallMs = Date.now();
  readonly #startedMs: number;
  #allowedMs: number;
  #timer: NodeJS.Timeout | undefined;
  #answered = false;
  /** Called when the client has gone. */
  #onGone: (() => void) | undefined;

  /** @param bytes the encoded request. */
  constructor(
    port: PortContext<Caller>,
    method: UnaryMethod<Request, Response>,
    call: AnsweredCall<Response>,
    bytes: Buffer,
  ) {
    super(port, method.path, call);
    this.#method = method;
    this.#call = call;
    this.#bytes = bytes;
    this.#startedMs = port.clock.monotonicMs();
    this.#allowedMs = allowedMs(call.deadline, this.#startedWallMs);
  }

  /** On the monotonic clock. */
  get deadlineMs(): number {
    return this.#startedMs + this.#allowedMs;
  }

  get isGone(): boolean {
    return this.#answered || this.#call.hasEnded;
  }

  onGone(listener: () => void): void {
    if (this.isGone) {
      clearTimeout(this.#timer);
      listener();
      return;
    }
    this.#onGone = listener;
    this.#call.onEnded = () => {
      // A wait for a lock may be long, and its timer would keep the call in memory until its end.
      clearTimeout(this.#timer);
      this.#leave();
    };
  }

  /** Begins the checks. A call whose deadline has passed already is never executed. */
  start(): void {
    if (this.#allowedMs <= 0) {
      this.#answer(deadlineExceeded(), "no");
      return;
    }
    this.#startTimer();
    try {
      this.#proceed();
    } catch (error) {
      this.#answer(toError(error), "no");
    }
  }

  /** Whose turn and limit it takes: the caller's, or the client's if the method needs no token. */
  get #owner(): string {
    return this.#method.addressLimiter === undefined ? this.principal.subject : this.client;
  }

  /** Waits for the deadline, which may have changed. */
  #startTimer(): void {
    clearTimeout(this.#timer);
    const leftMs = Math.max(0, this.deadlineMs - this.port.clock.monotonicMs());
    this.#timer = startDeadline(this.#owner, leftMs, () => {
      this.#leave();
      this.#answer(deadlineExceeded(), "no");
    });
  }

  /** Reports that the client no longer waits for the answer. */
  #leave(): void {
    if (!this.#answered) {
      this.#onGone?.();
    }
  }

  #proceed(): void {
    const request = this.#decodeLimited();
    const waitMs = this.#method.waitMs?.(request) ?? 0;
    if (waitMs > 0) {
      this.#allowedMs = allowedMs(this.#call.deadline, this.#startedWallMs, waitMs);
      this.#startTimer();
    }
    this.#method.handle(this, request, (answer, replayed) => this.#answer(answer, replayed));
  }

  /** Returns the request after the check of the rate limit, which comes before the check of the bytes. */
  #decodeLimited(): Request {
    const { isUnlimited, addressLimiter, addressLimiter: limiter = this.port.limiter } = this.#method;
    const owner = this.#owner;
    if (limiter === null || isUnlimited === undefined) {
      const limited = attempt(() => limiter?.take(owner));
      if (limited instanceof Error) {
        // Without a token, the refusals of a client count as those of wrong tokens do.
        if (addressLimiter !== undefined) {
          this.#call.connection.noteRefusal();
        }
        throw limited;
      }
      return this.decode(this.#method, this.#call, this.#bytes);
    }
    const request = attempt(() => this.decode(this.#method, this.#call, this.#bytes));
    if (request instanceof Error) {
      limiter.take(owner);
      throw request;
    }
    if (!isUnlimited(request)) {
      limiter.take(owner);
    }
    return request;
  }

  #answer(answer: Response | Error, replayed: Replayed): void {
    if (answer instanceof InvariantViolation) {
      clearTimeout(this.#timer);
      endProcess(answer);
      return;
    }
    if (answer instanceof Error && !(answer instanceof CoordinationError)) {
      this.report(answer);
    }
    if (this.#answered) {
      return;
    }
    this.#answered = true;
    clearTimeout(this.#timer);
    if (answer instanceof Error) {
      this.#call.end(errorStatus(answer, replayed, this.#call.leaderEndpoint()));
      return;
    }
    this.#call.answer(answer, replayed);
  }
}
