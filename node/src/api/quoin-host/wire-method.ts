/** A method in the form that this host serves. */
import type { AnsweredCall, CallHandler, CallMethod } from "../calls/index.ts";

/** Takes the messages of a request that may have many messages. */
export interface RequestSink {
  message(bytes: Buffer): void;
  end(): void;
}

export interface WireMethod extends CallMethod {
  /** Encodes the response of a unary method. */
  readonly serialize: (response: never) => Uint8Array;
  /** Called when the request is complete. */
  readonly handler: CallHandler<never> | null;
  /** Called when a request begins; only for a method whose request may have many messages. */
  readonly open: OpenMethod | null;
}

/** Begins a call whose request may have many messages. */
export type OpenMethod = (call: AnsweredCall<unknown>) => RequestSink;
