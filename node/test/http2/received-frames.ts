/**
 * Splits what a server sends into frames, and decodes its header blocks. Throws an error where the bytes are not
 * frames.
 */
import { HeaderDecoder } from "../../src/http2/hpack/index.ts";
import { Flag, FRAME_HEAD_BYTES, FrameType } from "./frames.ts";

export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
  /** The fields of HEADERS with a complete block, in one frame or in several. */
  fields?: readonly string[];
}

/** The table size of a client that announces none. */
const TABLE_BYTES = 4_096;
const LIST_BYTES_MAX = 1024 * 1024;

export class ReceivedFrames {
  /** All frames so far. */
  readonly frames: ReceivedFrame[] = [];
  readonly #decoder: HeaderDecoder;
  #rest = Buffer.alloc(0);
  /** HEADERS and CONTINUATION frames of a block that is incomplete. */
  #block: ReceivedFrame[] = [];

  constructor(tableBytesMax = TABLE_BYTES) {
    this.#decoder = new HeaderDecoder({ tableBytesMax, listBytesMax: LIST_BYTES_MAX });
  }

  /** Whether the bytes so far end with a whole frame and a whole header block. */
  get isWhole(): boolean {
    return this.#rest.length === 0 && this.#block.length === 0;
  }

  /** Returns the frames that these bytes complete. */
  read(bytes: Uint8Array): ReceivedFrame[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const before = this.frames.length;
    while (this.#rest.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) {
        break;
      }
      this.#add({
        type: this.#rest.readUInt8(3),
        flags: this.#rest.readUInt8(4),
        streamId: this.#rest.readUInt32BE(5),
        payload: Buffer.from(this.#rest.subarray(FRAME_HEAD_BYTES, end)),
      });
      this.#rest = this.#rest.subarray(end);
    }
    return this.frames.slice(before);
  }

  #add(received: ReceivedFrame): void {
    this.frames.push(received);
    const isOfBlock = received.type === FrameType.Headers || received.type === FrameType.Continuation;
    const [first] = this.#block;
    if ((first !== undefined) !== (received.type === FrameType.Continuation)) {
      throw new Error("CONTINUATION frames follow their HEADERS frame, and nothing else does");
    }
    if (!isOfBlock) {
      return;
    }
    this.#block.push(received);
    if ((received.flags & Flag.EndHeaders) !== 0) {
      const block = Buffer.concat(this.#block.map(({ payload }) => payload));
      const { fields, isTooLarge } = this.#decoder.decode(block, 0, block.length);
      if (isTooLarge) {
        throw new Error("The fields of an answer are larger than a test expects");
      }
      (first ?? received).fields = fields;
      this.#block = [];
    }
  }
}
