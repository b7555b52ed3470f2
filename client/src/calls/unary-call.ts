/**
 * One attempt of one unary call on one channel: connects within a time limit, sends, and waits for the answer. The
 * caller handles retries, tokens and the choice of the endpoint.
 */

import { type Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { decodeRequest, type MessageCodec } from "@quoin/proto";
import { callFailure, connect, neverSent, type Target } from "../transport/index.ts";

/** A unary method of the contract. */
export interface UnaryMethod<Request, Response> {
  readonly path: string;
  readonly serialize: (request: Request) => Buffer;
  readonly deserialize: (bytes: Buffer) => Response;
}

/** The parts of a definition in serviceDefinitions from which this package creates a method. */
export interface MethodDefinition<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseCodec: MessageCodec<Response>;
}

/** The answer to a call. */
export interface Answer<Response> {
  readonly message: Response;
  /** Whether it repeats the answer to an earlier attempt or request, and nothing was executed now. */
  readonly replayed: boolean;
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
 * Creates a method from its definition. Answers are decoded as strictly as requests: text that is not UTF-8
 * and counts that a number cannot represent are errors, never approximations.
 */
export function unaryMethod<Request, Response>(
  definition: MethodDefinition<Request, Response>,
): UnaryMethod<Request, Response> {
  const { path, requestSerialize, responseCodec } = definition;
  return { path, serialize: requestSerialize, deserialize: (bytes) => decodeRequest(responseCodec, bytes) };
}

/**
 * Makes one attempt.
 *
 * @throws QuoinError: UNAVAILABLE, not executed, without a connection; DEADLINE_EXCEEDED; CANCELLED by the signal; or
 * the error of the service.
 */
export async function callUnary<Request, Response>(
  target: Target,
  attempt: Attempt<Request, Response>,
): Promise<Answer<Response>> {
  const startMs = performance.now();
  await connect(target, attempt.remainingMs, attempt.signal);
  return send(target, attempt, attempt.remainingMs - (performance.now() - startMs));
}

function send<Request, Response>(
  target: Target,
  { method, request, metadata, signal }: Attempt<Request, Response>,
  remainingMs: number,
): Promise<Answer<Response>> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      throw neverSent(signal);
    }
    const startMs = performance.now();
    const onAbort = () => call.cancel();
    let replayed = false;
    const call = target.channel.makeUnaryRequest(
      method.path,
      method.serialize,
      method.deserialize,
      request,
      metadata,
      { deadline: Date.now() + remainingMs },
      (error, message) => {
        signal?.removeEventListener("abort", onAbort);
        target.calls.delete(call);
        if (error === null) {
          target.noteAnswer();
          resolve({ message: message as Response, replayed });
          return;
        }
        if (isAnswer(error)) {
          target.noteAnswer();
        } else if (error.code === status.DEADLINE_EXCEEDED) {
          target.noteSilence(startMs);
        }
        reject(callFailure(error, target.endpoint));
      },
    );
    call.on("metadata", (headers) => {
      replayed = headers.get("replayed").length > 0;
    });
    target.calls.add(call);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Members add trailers to each refusal; errors of grpc-js itself have none. */
function isAnswer({ metadata }: ServiceError): boolean {
  return Object.keys(metadata.getMap()).length > 0;
}
