/** How the methods of a service of the contract are registered on a server. */

import { type handleServerStreamingCall, type handleUnaryCall, status } from "@grpc/grpc-js";
import { CoordinationError, type Principal } from "../../state/index.ts";
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
    ? Streams extends true
      ? handleServerStreamingCall<Buffer, Buffer>
      : handleUnaryCall<Buffer, Response>
    : never;
};

/** The handler of a unary method, which needs a token from now on. */
export function unary<Caller extends { readonly principal: Principal }, Request, Response>(
  port: PortContext<Caller>,
  method: UnaryMethod<Request, Response>,
): handleUnaryCall<Buffer, Response> {
  port.intake.guard(method.path);
  return (call, respond) => new UnaryCall(port, method, call, respond).start();
}

/** The same for a method that answers with a stream. */
export function serverStream<Caller extends { readonly principal: Principal }, Request>(
  port: PortContext<Caller>,
  method: StreamMethod<Request>,
): handleServerStreamingCall<Buffer, Buffer> {
  port.intake.guard(method.path);
  return (call) => new StreamCall(port, method, call).start();
}

/**
 * The handler of a unary method that is part of the contract and not served here. Like a method that no server knows, it
 * is refused before anything else is looked at, but says what it is that is missing.
 *
 * @param why a sentence about the method.
 */
export function notServed<Response>(why: string): handleUnaryCall<Buffer, Response> {
  return (_call, respond) => respond(refusal(why));
}

/** The handler of a method that answers with a stream and is not served here. */
export function streamNotServed(why: string): handleServerStreamingCall<Buffer, Buffer> {
  return (call) => {
    const { details, metadata } = refusal(why);
    call.emit("error", { code: status.UNIMPLEMENTED, details, metadata });
  };
}

function refusal(why: string) {
  return errorStatus(new CoordinationError("NOT_SERVED", why), "no", null);
}
