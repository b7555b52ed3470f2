/**
 * One stream of messages from one member, read message by message. Unread messages wait at the member, after a few
 * messages on this side: a slow reader costs no memory here.
 */

import type { ClientReadableStream, Metadata } from "@grpc/grpc-js";
import { decodeRequest } from "@quoin/proto";
import { QuoinError } from "../errors/index.ts";
import { callFailure, type Target } from "../transport/index.ts";
import type { MethodDefinition } from "./unary-call.ts";

/** A method of the contract that answers with a stream. */
export interface StreamMethod<Request, Message> {
  readonly path: string;
  readonly serialize: (request: Request) => Buffer;
  readonly deserialize: (bytes: Buffer) => Message;
}

/** Creates a method from its definition; it decodes messages as strictly as unaryMethod. */
export function streamMethod<Request, Message>(
  definition: MethodDefinition<Request, Message>,
): StreamMethod<Request, Message> {
  const { path, requestSerialize, responseCodec } = definition;
  return { path, serialize: requestSerialize, deserialize: (bytes) => decodeRequest(responseCodec, bytes) };
}

/** Requests a stream from a member. */
export function openMessageStream<Request, Message>(
  { channel, endpoint }: Target,
  { path, serialize, deserialize }: StreamMethod<Request, Message>,
  request: Request,
  metadata: Metadata,
): MessageStream<Message> {
  const call = channel.makeServerStreamRequest(path, serialize, deserialize, request, metadata, {});
  return new MessageStream(call, endpoint);
}

/** A requested stream; it lasts until it is cancelled or the member ends it. */
export class MessageStream<Message> {
  readonly #call: ClientReadableStream<Message>;
  readonly #endpoint: string;
  readonly #messages: AsyncIterator<Message>;

  constructor(call: ClientReadableStream<Message>, endpoint: string) {
    this.#call = call;
    this.#endpoint = endpoint;
    // The next read raises an error that comes while there is no reader.
    call.on("error", () => undefined);
    this.#messages = call[Symbol.asyncIterator]() as AsyncIterator<Message>;
  }

  /**
   * The next message. The caller must wait for the message before.
   *
   * @throws QuoinError of the member or the connection, and UNAVAILABLE if the stream simply ends, which no member
   * does.
   */
  async next(): Promise<Message> {
    let result: IteratorResult<Message, unknown>;
    try {
      result = await this.#messages.next();
    } catch (thrown) {
      throw callFailure(thrown, this.#endpoint);
    }
    if (result.done === true) {
      throw new QuoinError({ code: "UNAVAILABLE", message: "the stream has ended" });
    }
    return result.value;
  }

  /** Ends the stream; a waiting read fails with CANCELLED. */
  cancel(): void {
    this.#call.cancel();
  }
}
