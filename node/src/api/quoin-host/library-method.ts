/**
 * Adapts a method that a library implements for grpc-js: handlers get calls that emit events. Used for reflection, which
 * clients call rarely.
 */
import { EventEmitter } from "node:events";
import type { MethodDefinition } from "@grpc/grpc-js";
import { type AnsweredCall, plainStatus, type StatusCode, status } from "../calls/index.ts";
import type { LibraryService } from "./lazy-service.ts";
import type { OpenMethod, RequestSink } from "./wire-method.ts";

type Definition = MethodDefinition<unknown, unknown>;
type StreamHandler = (call: LibraryServiceCall) => void;

/** The error that a library returns instead of a message. */
interface LibraryError {
  readonly code?: StatusCode;
  readonly details?: string;
}

const ignore = (): void => undefined;

/** Returns how a call of each method begins, by the full names of the methods. All of them stream both ways. */
export function libraryMethods(services: readonly LibraryService[]): ReadonlyMap<string, OpenMethod> {
  const methods = new Map<string, OpenMethod>();
  for (const { definition, handlers } of services) {
    for (const [name, method] of Object.entries(definition)) {
      const handler = handlers[name] ?? handlers[method.originalName ?? name];
      if (handler !== undefined) {
        methods.set(method.path, (call) => openStream(method, handler as unknown as StreamHandler, call));
      }
    }
  }
  return methods;
}

function openStream(definition: Definition, handler: StreamHandler, call: AnsweredCall<unknown>): RequestSink {
  const stream = new LibraryServiceCall(definition, call);
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
  readonly #definition: Definition;
  readonly #call: AnsweredCall<unknown>;

  constructor(definition: Definition, call: AnsweredCall<unknown>) {
    super();
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
