/**
 * Cuts what arrives on a gRPC stream into its messages: each comes behind five bytes, a flag that says whether it is
 * compressed, and its length. A message may come in several pieces, and several in one piece.
 */

const PREFIX_BYTES = 5;
const LENGTH_OFFSET = 1;
const UNCOMPRESSED = 0;

/** A message as it goes on the wire. */
export function withPrefix(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(PREFIX_BYTES + message.length, UNCOMPRESSED);
  framed.writeUInt32BE(message.length, LENGTH_OFFSET);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

export class MessageSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that are complete with this piece. Raises an error at a compressed one, which nobody asked for. */
  push(piece: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    while (bytes.length >= PREFIX_BYTES) {
      if (bytes[0] !== UNCOMPRESSED) {
        throw new Error("a message is compressed, or the stream is none of gRPC");
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
