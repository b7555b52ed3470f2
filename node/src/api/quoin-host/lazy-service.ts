/**
 * Services that libraries implement. They are loaded with the first call of one of their methods, because loading takes
 * a tenth of the processor time of a member's start, and most members never get such a call.
 */
import type { ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import { type CallMethod, UNKNOWN_ERROR } from "../calls/index.ts";
import type { OpenMethod, RequestSink, WireMethod } from "./wire-method.ts";

/** What a library gives to a server of grpc-js. */
export interface LibraryService {
  readonly definition: ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
}

/** A method of a library, by its full name. */
export type LibraryMethod = Pick<CallMethod, "path" | "requestStream" | "responseStream">;

/**
 * Returns a method that behaves as the loaded one does. Its request and its answer are streams.
 *
 * @param load returns how a call begins; it may be called for each call.
 * @param onError called if the library cannot be loaded, or fails.
 */
export function lazyMethod(
  method: CallMethod,
  load: () => Promise<OpenMethod>,
  onError: (error: unknown) => void,
): WireMethod {
  return {
    ...method,
    serialize: (message: Uint8Array) => message,
    handler: null,
    open: (call) => {
      const sink = new LazySink();
      load()
        .then((open) => {
          if (!call.hasEnded) {
            sink.pass(open(call));
          }
        })
        .catch((error: unknown) => {
          onError(error);
          call.end(UNKNOWN_ERROR);
        });
      return sink;
    },
  };
}

/** Keeps messages until there is a sink for them. The limit of a client's requests in memory bounds them. */
class LazySink implements RequestSink {
  #sink: RequestSink | null = null;
  #waiting: ((sink: RequestSink) => void)[] = [];

  message(bytes: Buffer): void {
    this.#do((sink) => sink.message(bytes));
  }

  end(): void {
    this.#do((sink) => sink.end());
  }

  pass(sink: RequestSink): void {
    this.#sink = sink;
    for (const act of this.#waiting) {
      act(sink);
    }
    this.#waiting = [];
  }

  #do(act: (sink: RequestSink) => void): void {
    if (this.#sink === null) {
      this.#waiting.push(act);
    } else {
      act(this.#sink);
    }
  }
}
