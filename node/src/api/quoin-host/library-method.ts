/**
 * Adapts a method that a library implements for grpc-js: handlers get calls that emit events. Used for health and
 * reflection, which clients call rarely.
 */
import { EventEmitter } from "node:events";
import type { MethodDefinition, sendUnaryData, UntypedHandleCall } from "@grpc/grpc-js";
import { type AnsweredCall, plainStatus, type StatusCode, status } from "../calls/index.ts";
import type { LibraryService } from "./lazy-service.ts";
import type { LoadedMethod, RequestSink } from "./wire-method.ts";

type Definition = MethodDefinition<unknown, unknown>;
type UnaryHandler = (call: { readonly request: unknown }, respond: sendUnaryData<unknown>) => void;
type StreamHandler = (call: LibraryServiceCall) => void;

/** The error that a library returns instead of a message. */
interface LibraryError {
  readonly code?: StatusCode;
  readonly details?: string;
}

const ignore = (): void => undefined;

/** Returns the methods of services by their full names. */
export function libraryMethods(services: readonly LibraryService[]): ReadonlyMap<string, LoadedMethod> {
  const methods = new Map<string, LoadedMethod>();
  for (const { definition, handlers } of services) {
    for (const [name, method] of Object.entries(definition)) {
      const handler = handlers[name] ?? handlers[method.originalName ?? name];
      if (handler !== undefined) {
        methods.set(method.path, libraryMethod(method, handler));
      }
    }
  }
  return methods;
}

function libraryMethod(definition: Definition, handler: UntypedHandleCall): LoadedMethod {
  const { requestStream, responseStream, responseSerialize: serialize } = definition;
  if (requestStream) {
    const open = (call: AnsweredCall<unknown>) => openStream(definition, handler as unknown as StreamHandler, call);
    return { serialize, handler: null, open };
  }
  return {
    serialize,
    open: null,
    handler: (call: AnsweredCall<unknown>, bytes: Buffer) => {
      const request = decoded(definition, call, bytes);
      if (request === undefined) {
        return;
      }
      if (responseStream) {
        (handler as unknown as StreamHandler)(new LibraryServiceCall(definition, call, request));
      } else {
        (handler as unknown as UnaryHandler)({ request }, (error, response) => {
          if (error === null) {
            call.answer(response, "no");
          } else {
            call.end(statusOf(error));
          }
        });
      }
    },
  };
}

function openStream(definition: Definition, handler: StreamHandler, call: AnsweredCall<unknown>): RequestSink {
  const stream = new LibraryServiceCall(definition, call, undefined);
  handler(stream);
  return {
    message: (bytes) => {
      const request = decoded(definition, call, bytes);
      if (request !== undefined) {
        stream.emit("data", request);
      }
    },
    end: () => void stream.emit("end"),
  };
}

/** Returns the request. If it cannot be decoded, it ends the call and returns undefined. */
function decoded({ requestDeserialize }: Definition, call: AnsweredCall<unknown>, bytes: Buffer): unknown {
  try {
    return requestDeserialize(bytes);
  } catch {
    call.end(plainStatus(status.INTERNAL, "Error deserializing request"));
    return undefined;
  }
}

function statusOf({ code = status.UNKNOWN, details = "" }: LibraryError) {
  return plainStatus(code, details);
}

/** A call whose answer is a stream, with the events and the methods that the libraries use. */
class LibraryServiceCall extends EventEmitter {
  readonly request: unknown;
  readonly #definition: Definition;
  readonly #call: AnsweredCall<unknown>;

  constructor(definition: Definition, call: AnsweredCall<unknown>, request: unknown) {
    super();
    this.request = request;
    this.#definition = definition;
    this.#call = call;
    call.onEnded = () => void this.emit("cancelled", "cancelled");
    this.on("error", (error: LibraryError) => call.end(statusOf(error)));
  }

  write(response: unknown): void {
    this.#call.send(this.#definition.responseSerialize(response), ignore);
  }

  end(): void {
    this.#call.end(plainStatus(status.OK, ""));
  }
}
