/** A call whose request is complete, as its handler sees it. The host sends its answers to the client. */
import type { MessageCodec } from "@quoin/proto";
import type { Replayed } from "../../state/index.ts";
import type { RequestTrace } from "../../tracing/index.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { CallStatus } from "./status.ts";

export interface AnsweredCall<Response> {
  /** The client's deadline on the clock of Date.now(); Infinity if it set none. */
  readonly deadline: number;
  /** The admission of the call, once its headers are checked; null for methods whose headers are not checked. */
  readonly admission: unknown;
  readonly connection: Pick<ClientConnection, "address" | "noteRefusal">;
  /** The trace of the call; null = none is made. */
  readonly trace: RequestTrace | null;
  /** Whether the client has the complete answer, or has gone. */
  readonly hasEnded: boolean;
  /** Called when the call is over. */
  onEnded: (() => void) | null;
  /** host:port of the leader's port for this kind of calls, or null if none is known. */
  leaderEndpoint(): string | null;
  /** Decodes the request. Throws BAD_FIELD, with the field if one is wrong. */
  decode<Request>(codec: MessageCodec<Request>, request: Buffer, fieldsMax?: number): Request;
  /** Answers a unary call, with OK. */
  answer(response: Response, replayed: Replayed): void;
  /**
   * Sends an encoded message of a stream. Calls `taken`, in a later turn, once the message has left memory; never if
   * the stream ends before that.
   */
  send(message: Uint8Array, taken: () => void): void;
  /** Ends the call after the sent messages. */
  end(status: CallStatus): void;
}

/** Answers the calls of a method. The request is its encoded message. */
export type CallHandler<Response> = (call: AnsweredCall<Response>, request: Buffer) => void;
