/**
 * Splits the bytes of a gRPC stream into messages. Each message follows five bytes: a flag for compression, and its
 * length. A message may arrive in several pieces, and several messages in one piece.
 */

const PREFIX_BYTES = 5;
const LENGTH_OFFSET = 1;
const UNCOMPRESSED = 0;

/** A message in its wire format. */
export function withPrefix(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(PREFIX_BYTES + message.length, UNCOMPRESSED);
  framed.writeUInt32BE(message.length, LENGTH_OFFSET);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

export class MessageSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that this piece completes. Raises an error for a compressed one, which the client did not request. */
  push(piece: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    while (bytes.length >= PREFIX_BYTES) {
      if (bytes[0] !== UNCOMPRESSED) {
        throw new Error("a message is compressed, or the stream is not a gRPC stream");
      }
      const end = PREFIX_BYTES + bytes.readUInt32BE(LENGTH_OFFSET);
      if (bytes.length < end) {
        break;
      }
      messages.push(bytes.subarray(PREFIX_BYTES, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
    return messages;
  }
}
