/**
 * A call as the methods see it: the caller, the caller's rights, the deadline, and the id that identifies a retry. It
 * does not depend on the transport; each transport implements it.
 */

import type { CoordinationError, Principal, Replayed, RequiredAccess } from "../../state/index.ts";
import type { RequestTrace } from "../../tracing/index.ts";
import { attempt, toError } from "./attempt.ts";

export interface Call {
  readonly principal: Principal;
  /** Null = the call has none. */
  readonly trace: RequestTrace | null;
  /** On the monotonic clock; in the future when the call begins. */
  readonly deadlineMs: number;
  /** Whether the client no longer waits: it has cancelled the call, is disconnected, or has its answer. */
  readonly isGone: boolean;
  /**
   * Returns if the caller has the access that is needed, else throws the refusal. If the decision needs a read barrier,
   * it returns a promise, which resolves or rejects in the same way.
   */
  authorize(required: RequiredAccess | null): undefined | Promise<void>;
  /**
   * Makes the same decision at once, from the state that this member has applied. For reads, after their read barrier.
   */
  recheck(required: RequiredAccess | null): void;
  /** Counts the call as so many further requests against the rate limit of the caller. */
  charge(requests: number): void;
  /** Whether the call has a request id, so that a retry is recognised. Only calls on the admin port may have none. */
  readonly hasRequestId: boolean;
  /** The 16 bytes of the request id. Only for mutations that have one. */
  requestId(): Uint8Array;
}

/** A call of a client that need not have shown a token. */
export interface OpenCall {
  /** The part of the client's address that all of its addresses share. */
  readonly client: string;
  /** On the monotonic clock; in the future when the call begins. */
  readonly deadlineMs: number;
  /** As that of CancellableCall. */
  onGone(listener: () => void): void;
}

/** A call that reports when its client no longer waits for the answer. */
export interface CancellableCall extends Call {
  /**
   * Calls the listener once the client has cancelled the call, is disconnected, or has received DEADLINE_EXCEEDED; at
   * once if that has happened already. Never after the answer. There is only one listener.
   */
  onGone(listener: () => void): void;
}

/** The answers of a call that has many answers. */
export interface ResponseStream {
  /** Whether the stream has ended, from either side; nothing more can be sent. */
  readonly hasEnded: boolean;
  /** Calls back when the stream has ended, at once if it has ended already. */
  onEnded(callback: () => void): void;
  /**
   * Sends an encoded message after the previous ones. Calls `taken` once the message has left memory; never if the
   * stream ends before that.
   */
  send(message: Uint8Array, taken: () => void): void;
  /** Ends the stream after the sent messages, with a refusal (CoordinationError). Any other Error is a bug. */
  fail(error: CoordinationError | Error): void;
}

/** The answers of a call whose stream has a regular end. */
export interface FiniteStream extends ResponseStream {
  /** Ends the stream after the sent messages, with success. */
  end(): void;
}

/**
 * Takes the answer to a call, once. An answer is a response or a refusal (CoordinationError). Any other Error is a bug
 * of the service; the caller does not see its message.
 */
export type Reply<Response> = (answer: Response | CoordinationError | Error, replayed: Replayed) => void;

/** Replies with what the promise resolves to, or with the reason of its rejection. */
export function replyWith<Response>(reply: Reply<Response>, answer: Promise<Response>): void {
  answer.then((response) => reply(response, "no")).catch((error: unknown) => reply(toError(error), "no"));
}

/** Replies with what `map` makes of a response; any other answer stays as it is. */
export function mapReply<Answered, Response>(
  reply: Reply<Response>,
  map: (answer: Answered) => Response,
): Reply<Answered> {
  return (answer, replayed) => reply(answer instanceof Error ? answer : attempt(() => map(answer)), replayed);
}
