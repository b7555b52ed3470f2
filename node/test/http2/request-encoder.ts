/** Makes HEADERS frames of a client; each connection has its own. */
import { HeaderEncoder } from "../../src/http2/hpack/index.ts";
import { Flag, FrameType, frame } from "./frames.ts";

/** A request of gRPC, as most tests send it. */
export const GRPC_REQUEST: readonly string[] = [
  ...[":method", "POST", ":scheme", "http", ":path", "/quoin.test.Echo/Unary", ":authority", "localhost"],
  ...["te", "trailers", "content-type", "application/grpc", "user-agent", "quoin-test"],
];

export class RequestEncoder {
  readonly #encoder = new HeaderEncoder({ tableBytesMax: 4_096 });

  /** The header block of these fields. */
  block(fields: readonly string[]): Buffer {
    const bytes = Buffer.alloc(this.#encoder.boundOf(fields));
    return bytes.subarray(0, this.#encoder.encode(fields, bytes, 0));
  }

  /** One HEADERS frame. */
  headers(streamId: number, fields: readonly string[], flags = 0): Buffer {
    return frame(FrameType.Headers, flags | Flag.EndHeaders, streamId, this.block(fields));
  }

  /** A HEADERS frame and CONTINUATION frames, with this many bytes of the block in each. */
  cutHeaders(streamId: number, fields: readonly string[], bytes: number, flags = 0): Buffer {
    const block = this.block(fields);
    const frames: Buffer[] = [];
    for (let at = 0; at === 0 || at < block.length; at += bytes) {
      const type = at === 0 ? FrameType.Headers : FrameType.Continuation;
      const last = at + bytes >= block.length ? Flag.EndHeaders : 0;
      frames.push(frame(type, (at === 0 ? flags : 0) | last, streamId, block.subarray(at, at + bytes)));
    }
    return Buffer.concat(frames);
  }
}
