/**
 * A call as the methods see it: who asks, what they may do, until when, and what makes a retry recognisable. It knows
 * nothing of the transport; each transport brings its own.
 */

import type { CoordinationError, Need, Principal, Replayed } from "../../state/index.ts";

export interface Call {
  readonly principal: Principal;
  /** On the monotonic clock; in the future when the call begins. */
  readonly deadlineMs: number;
  /** Whether the client has cancelled the call, is disconnected, or has its answer already: then it waits for nothing. */
  readonly isGone: boolean;
  /**
   * Raises the refusal, or returns nothing, unless the caller may do what is needed. Returns a promise of the same when
   * the decision needs a read barrier.
   */
  authorize(need: Need | null): undefined | Promise<void>;
  /** The same decision at once, on the state as it is applied here: for reads, after their read barrier. */
  recheck(need: Need | null): void;
  /** Whether a retry can be recognised; only calls of the admin port may have no request id. */
  readonly hasRequestId: boolean;
  /** The 16 bytes of the request id. Only for mutations that have one. */
  requestId(): Uint8Array;
}

/** A call of which it is noticed when nobody waits for its answer any more. */
export interface CancellableCall extends Call {
  /**
   * Calls the listener once the client has cancelled the call, is disconnected, or has been told that its deadline has
   * passed; at once if that is so already. Not after the answer. There is one listener.
   */
  onGone(listener: () => void): void;
}

/** The answers of a call that has many. */
export interface ResponseStream {
  /** Whether it has ended, whoever ended it: nothing can be sent any more. */
  readonly isOver: boolean;
  /** Calls back once it is over, at once if it is. */
  onOver(callback: () => void): void;
  /**
   * Sends an encoded message after those before it; calls `taken` once it is on its way and not in memory any more, never
   * if the stream ends before.
   */
  send(message: Uint8Array, taken: () => void): void;
  /** Ends it, behind what was sent, with a refusal (CoordinationError), or any other Error, which is a bug. */
  fail(error: CoordinationError | Error): void;
}

/** The answers of a call that has a last one. */
export interface FiniteStream extends ResponseStream {
  /** Ends it, behind what was sent, with success. */
  end(): void;
}

/**
 * Takes the answer of a call, once. An answer is a response, a refusal (CoordinationError), or any other Error, which is
 * a bug of the service and says nothing to the caller.
 */
export type Reply<Response> = (answer: Response | CoordinationError | Error, replayed: Replayed) => void;
