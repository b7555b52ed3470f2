/**
 * Decoding of messages that come from outside. grpc-js answers INTERNAL when a deserializer throws, before any handler
 * runs; so the server registers its methods with rawMethods, and its handlers decode here, where the error can say which
 * field is wrong.
 */

import { BinaryReader, type BinaryWriter } from "@bufbuild/protobuf/wire";
import { checkWire } from "./wire-check.ts";

/** The generated object of a message type, such as `PutKeyRequest`: how to write and read it. */
export interface MessageCodec<Message> {
  /** Full name of the message, such as `coordination.v1.PutKeyRequest`. */
  readonly $type: string;
  encode(message: Message, writer?: BinaryWriter): BinaryWriter;
  decode(input: BinaryReader | Uint8Array, length?: number): Message;
}

// A leading U+FEFF is part of the text: a key that starts with it is another key than the one without it.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/**
 * Decodes the bytes of a message, strictly: malformed bytes, invalid UTF-8 and an int64 outside ±(2^53 − 1) (rule S17)
 * are errors at any depth; unknown fields are ignored. The `bytes` fields of the result are views of the input, not copies.
 *
 * @throws MalformedMessageError naming the field where one is to blame.
 */
export function decodeRequest<Message>(codec: MessageCodec<Message>, bytes: Uint8Array): Message {
  checkWire(bytes, codec.$type);
  // A plain view: of a Buffer the decoder would make Buffers, whose slice() does not copy as that of a Uint8Array does.
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return codec.decode(new BinaryReader(view, decodeUtf8));
}
