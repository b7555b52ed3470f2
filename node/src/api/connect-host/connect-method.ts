/** A method in the form that this host serves. */
import type { MessageCodec } from "@quoin/proto";
import type { CallHandler, CallMethod } from "../calls/index.ts";

export interface ConnectMethod extends CallMethod {
  /** Encodes the response of a unary method as protobuf. */
  readonly serialize: (response: never) => Uint8Array;
  /** Reads and writes the response, or a message of the stream. */
  readonly responseCodec: MessageCodec<unknown>;
  readonly handler: CallHandler<unknown>;
}
