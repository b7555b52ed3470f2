/** How the methods of a service of the contract are registered on a server. */

import { CoordinationError, type Principal } from "../../state/index.ts";
import type { CallHandler } from "./answered-call.ts";
import type { PortContext } from "./checked-call.ts";
import { errorStatus } from "./status.ts";
import { StreamCall, type StreamMethod } from "./stream-call.ts";
import { UnaryCall, type UnaryMethod } from "./unary-call.ts";

/** The handler of every method of a service; requests come as bytes, and streams take bytes (see rawMethods). */
export type Implementation<Definition> = {
  readonly [Method in keyof Definition]: Definition[Method] extends {
    readonly responseStream: infer Streams;
    readonly responseDeserialize: (bytes: Buffer) => infer Response;
  }
    ? CallHandler<Streams extends true ? never : Response>
    : never;
};

/** The handler of a unary method, which needs a token from now on. */
export function unary<Caller extends { readonly principal: Principal }, Request, Response>(
  port: PortContext<Caller>,
  method: UnaryMethod<Request, Response>,
): CallHandler<Response> {
  port.intake.guard(method.path);
  return (call, request) => new UnaryCall(port, method, call, request).start();
}

/** The same for a method that answers with a stream. */
export function serverStream<Caller extends { readonly principal: Principal }, Request>(
  port: PortContext<Caller>,
  method: StreamMethod<Request>,
): CallHandler<never> {
  port.intake.guard(method.path);
  return (call, request) => new StreamCall(port, method, call, request).start();
}

/**
 * The handler of a method that is part of the contract and not served here. Like a method that no server knows, it is
 * refused before anything else is looked at, but says what it is that is missing.
 *
 * @param why a sentence about the method.
 */
export function notServed(why: string): CallHandler<never> {
  return (call) => call.end(errorStatus(new CoordinationError("NOT_SERVED", why), "no", null));
}
