/**
 * One attempt of one unary call on one channel: connect within a bound, send, wait for the answer. Retries, tokens and the
 * choice of the endpoint are the business of the caller.
 */

import { connectivityState, type Metadata } from "@grpc/grpc-js";
import { decodeRequest, type MessageCodec } from "@quoin/proto";
import type { Target } from "./endpoint-pool.ts";
import { QuoinError } from "./quoin-error.ts";

/** A unary method of the contract. */
export interface UnaryMethod<Request, Response> {
  readonly path: string;
  readonly serialize: (request: Request) => Buffer;
  readonly deserialize: (bytes: Buffer) => Response;
}

/** The answer to a call. */
export interface Answer<Response> {
  readonly message: Response;
  /** Whether it is the replay of a large answer, which comes without the values that the first one had. */
  readonly valuesOmitted: boolean;
}

/** One attempt. */
export interface Attempt<Request, Response> {
  readonly method: UnaryMethod<Request, Response>;
  readonly request: Request;
  readonly metadata: Metadata;
  /** How long the attempt may take from now, in milliseconds; more than 0. */
  readonly remainingMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * How long an attempt waits for a connection. A host that does not answer at all would otherwise take the whole deadline,
 * though another member could have answered.
 */
const connectTimeoutMs = 1_000;

/**
 * Makes a method from its generated definition. Answers are decoded as strictly as requests: text that is not UTF-8 and
 * counts that a number cannot hold are errors, never approximations.
 */
export function unaryMethod<Request, Response>(
  definition: { readonly path: string; readonly requestSerialize: (request: Request) => Buffer },
  response: MessageCodec<Response>,
): UnaryMethod<Request, Response> {
  return {
    path: definition.path,
    serialize: definition.requestSerialize,
    deserialize: (bytes) => decodeRequest(response, bytes),
  };
}

/**
 * Makes one attempt.
 *
 * @throws QuoinError: UNAVAILABLE, not executed, without a connection; DEADLINE_EXCEEDED; CANCELLED by the signal; or what
 *   the service answered.
 */
export async function callUnary<Request, Response>(
  target: Target,
  attempt: Attempt<Request, Response>,
): Promise<Answer<Response>> {
  const startMs = performance.now();
  if (currentState(target, false) !== connectivityState.READY) {
    await connect(target, Math.min(connectTimeoutMs, attempt.remainingMs), attempt.signal);
  }
  return send(target, attempt, attempt.remainingMs - (performance.now() - startMs));
}

/**
 * Waits until the channel is connected, or has failed to: sending then fails at once, and says why.
 *
 * @throws QuoinError UNAVAILABLE after the timeout; CANCELLED by the signal.
 */
async function connect(target: Target, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let state = currentState(target, true);
  while (state === connectivityState.IDLE || state === connectivityState.CONNECTING) {
    await changeOfState(target, state, deadline, signal);
    state = currentState(target, true);
  }
}

/**
 * The state of the channel. It may have been closed while the operation waited for something else: by the client, or because
 * another member leads. That must be seen before it is told to connect, because grpc-js would bring it back to life.
 *
 * @throws QuoinError UNAVAILABLE, not executed, when the channel is closed.
 */
function currentState(target: Target, connect: boolean): connectivityState {
  const channel = target.channel.getChannel();
  if (channel.getConnectivityState(false) === connectivityState.SHUTDOWN) {
    throw unavailable(`the connection to ${target.endpoint} is closed`);
  }
  return channel.getConnectivityState(connect);
}

function changeOfState(
  target: Target,
  state: connectivityState,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) throw cancelled(signal);
    const onAbort = () => reject(cancelled(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    target.channel.getChannel().watchConnectivityState(state, deadline, (timeout) => {
      signal?.removeEventListener("abort", onAbort);
      if (timeout === undefined) resolve();
      else reject(unavailable(`no connection to ${target.endpoint} in time`));
    });
  });
}

function send<Request, Response>(
  target: Target,
  { method, request, metadata, signal }: Attempt<Request, Response>,
  remainingMs: number,
): Promise<Answer<Response>> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) throw cancelled(signal);
    let valuesOmitted = false;
    const onAbort = () => call.cancel();
    const call = target.channel.makeUnaryRequest(
      method.path,
      method.serialize,
      method.deserialize,
      request,
      metadata,
      { deadline: Date.now() + remainingMs },
      (error, message) => {
        signal?.removeEventListener("abort", onAbort);
        if (error === null) resolve({ message: message as Response, valuesOmitted });
        else reject(QuoinError.from(error));
      },
    );
    call.once("metadata", (header: Metadata) => {
      valuesOmitted = header.get("replayed").includes("no-values");
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function cancelled(signal: AbortSignal | undefined): QuoinError {
  return new QuoinError({
    code: "CANCELLED",
    outcome: "not-executed",
    message: "the operation was cancelled before it was sent",
    cause: signal?.reason,
  });
}

function unavailable(message: string): QuoinError {
  return new QuoinError({ code: "UNAVAILABLE", outcome: "not-executed", message });
}
