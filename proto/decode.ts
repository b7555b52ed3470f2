/**
 * Decoding of messages from other programs. When a deserializer throws, grpc-js answers INTERNAL before any handler
 * runs. So the server registers its methods with rawMethods, and its handlers decode here. The error can then name the
 * field that is wrong.
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

// A leading U+FEFF is part of the text: a key with it and a key without it are different keys.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/**
 * Decodes the bytes of a message strictly. Malformed bytes, invalid UTF-8 and an int64 outside ±(2^53 − 1) (rule S17)
 * are errors at any depth; only the sum of an increment has the whole range. Unknown fields are ignored. The `bytes` fields of the result are views of the input, not
 * copies.
 *
 * @param fieldsMax how many fields the message may have, with those of the messages in it; a server bounds requests.
 * @throws MalformedMessageError naming the field, if one field is wrong.
 */
export function decodeRequest<Message>(
  codec: MessageCodec<Message>,
  bytes: Uint8Array,
  fieldsMax = Number.POSITIVE_INFINITY,
): Message {
  checkWire(bytes, codec.$type, fieldsMax);
  // A plain view: from a Buffer the decoder would make Buffers, whose slice() does not copy, unlike Uint8Array.slice().
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return codec.decode(new BinaryReader(view, decodeUtf8));
}
