/** Makes the handlers by which a server registers the methods of a service of the contract. */

import { CoordinationError, type Principal } from "../../state/index.ts";
import type { CallHandler } from "./answered-call.ts";
import type { PortContext } from "./checked-call.ts";
import { errorStatus } from "./status.ts";
import { StreamCall, type StreamMethod } from "./stream-call.ts";
import { UnaryCall, type UnaryMethod } from "./unary-call.ts";

/** The handlers of all methods of a service; requests are bytes, and streams take bytes (see rawMethods). */
export type Implementation<Definition> = {
  readonly [Method in keyof Definition]: Definition[Method] extends {
    readonly responseStream: infer Streams;
    readonly responseDeserialize: (bytes: Buffer) => infer Response;
  }
    ? CallHandler<Streams extends true ? never : Response>
    : never;
};

/** Makes the handler of a unary method, and makes the method need a token. */
export function unary<Caller extends { readonly principal: Principal }, Request, Response>(
  port: PortContext<Caller>,
  method: UnaryMethod<Request, Response>,
): CallHandler<Response> {
  port.intake.guard(method.path);
  return (call, request) => new UnaryCall(port, method, call, request).start();
}

/** Does the same for a method that answers with a stream. */
export function serverStream<Caller extends { readonly principal: Principal }, Request>(
  port: PortContext<Caller>,
  method: StreamMethod<Request>,
): CallHandler<never> {
  port.intake.guard(method.path);
  return (call, request) => new StreamCall(port, method, call, request).start();
}

/**
 * Makes the handler of a method that is part of the contract but not served here. Like an unknown method, it refuses
 * calls before any other check, but its message says what is missing.
 *
 * @param why a sentence about the method.
 */
export function notServed(why: string): CallHandler<never> {
  return (call) => call.end(errorStatus(new CoordinationError("NOT_SERVED", why), "no", null));
}
