/**
 * The methods of a service of the contract as a port serves them.
 *
 * Path, codecs and kind of a method come from its definition. A port adds one handler for each method; a missing or a
 * misnamed handler is a type error. Everything that all calls of a method share is resolved here, before the first
 * call.
 */

import type { ServiceDefinition } from "@grpc/grpc-js";
import {
  type MessageCodec,
  type RawServiceDefinition,
  rawMethods,
  type ServiceName,
  type serviceDefinitions,
} from "@quoin/proto";
import { invariant } from "../../primitives/index.ts";
import { CoordinationError, type Principal } from "../../state/index.ts";
import type { CallHandler } from "./answered-call.ts";
import type { HeaderChecks } from "./call-method.ts";
import type { PortContext } from "./checked-call.ts";
import { errorStatus } from "./status.ts";
import { StreamCall, type StreamMethod } from "./stream-call.ts";
import { UnaryCall, type UnaryMethod } from "./unary-call.ts";

/** A method as the hosts get it. */
export interface ServedMethod {
  /** Requests, and the messages of streams, are bytes (see rawMethods). */
  readonly definition: RawServiceDefinition<ServiceDefinition>[string];
  /** Reads and writes the response, or a message of the stream. */
  readonly responseCodec: MessageCodec<unknown>;
  readonly checks: HeaderChecks;
  /** Whether a call lasts as long as its client wants. */
  readonly mayWait: boolean;
  readonly handler: CallHandler<never>;
}

/** A method that the contract has and this port does not serve. */
interface NotServed {
  /** The end of the sentence that begins with the name of the method. */
  readonly notServed: string;
}

type UnaryHandle<Request, Response> = UnaryMethod<Request, Response>["handle"];
type UnaryOptions<Request, Response> = Omit<UnaryMethod<Request, Response>, "path" | "codec">;
type StreamHandle<Request> = StreamMethod<Request>["handle"];

type MethodHandler<Method> = Method extends { readonly requestCodec: MessageCodec<infer Request> }
  ? Method extends { readonly responseStream: true }
    ? StreamHandle<Request> | NotServed
    : Method extends { readonly responseCodec: MessageCodec<infer Response> }
      ? UnaryHandle<Request, Response> | UnaryOptions<Request, Response> | NotServed
      : never
  : never;

/**
 * A handler for each method of a service, under the name that the method has in the definition. A unary method with
 * options has an object with them and `handle`.
 */
export type ServiceHandlers<Service> = { readonly [Name in keyof Service]: MethodHandler<Service[Name]> };

/**
 * Marks a method that is part of the contract but not served here. Like an unknown method, it refuses calls before any
 * other check, but its message says what is missing.
 *
 * @param why the end of the sentence that begins with the name of the method.
 */
export function notServed(why: string): NotServed {
  return { notServed: why };
}

/** Joins the methods of a service with their handlers. Served methods need a token, unless they limit each address. */
export function serve<
  Caller extends { readonly principal: Principal },
  Service extends (typeof serviceDefinitions)[ServiceName],
>(port: PortContext<Caller>, service: Service, handlers: ServiceHandlers<Service>): readonly ServedMethod[] {
  const definitions = rawMethods<ServiceDefinition>(service);
  return Object.entries<AnyMethod>(service).map(
    ([name, { path, requestCodec: codec, responseCodec, responseStream }]) => {
      const definition = definitions[name];
      const handler = (handlers as Readonly<Record<string, AnyHandler>>)[name];
      invariant(definition !== undefined && handler !== undefined, "every method of the contract has a handler");
      const method = { definition, responseCodec };
      if ("notServed" in handler) {
        return { ...method, checks: "none", mayWait: responseStream, handler: refusal(path, handler) };
      }
      if (responseStream) {
        const handle = handler as StreamHandle<unknown>;
        return { ...method, checks: "token", mayWait: true, handler: streamHandler(port, { path, codec, handle }) };
      }
      const options = typeof handler === "object" ? handler : { handle: handler as UnaryHandle<unknown, unknown> };
      const mayWait = options.waitMs !== undefined;
      const checks = options.addressLimiter === undefined ? "token" : "metadata";
      return { ...method, checks, mayWait, handler: unaryHandler(port, { ...options, path, codec }) };
    },
  );
}

interface AnyMethod {
  readonly path: string;
  readonly responseStream: boolean;
  readonly requestCodec: MessageCodec<unknown>;
  readonly responseCodec: MessageCodec<unknown>;
}

type AnyHandler = UnaryHandle<unknown, unknown> | UnaryOptions<unknown, unknown> | StreamHandle<unknown> | NotServed;

function unaryHandler<Caller extends { readonly principal: Principal }>(
  port: PortContext<Caller>,
  method: UnaryMethod<unknown, unknown>,
): CallHandler<unknown> {
  return (call, request) => new UnaryCall(port, method, call, request).start();
}

function streamHandler<Caller extends { readonly principal: Principal }>(
  port: PortContext<Caller>,
  method: StreamMethod<unknown>,
): CallHandler<never> {
  return (call, request) => new StreamCall(port, method, call, request).start();
}

function refusal(path: string, { notServed: why }: NotServed): CallHandler<never> {
  const message = `${path.slice(path.lastIndexOf("/") + 1)} ${why}`;
  return (call) => call.end(errorStatus(new CoordinationError("NOT_SERVED", message), "no", null));
}
