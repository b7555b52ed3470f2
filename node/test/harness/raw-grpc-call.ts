/**
 * One gRPC call made of HTTP/2 headers and bytes, which a gRPC library would not send: repeated single headers, bytes
 * outside ASCII, an empty grpc-timeout, broken frames.
 */

import { type ClientSessionOptions, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";

/** Allows repeated headers that HTTP allows only once. */
const SESSION_OPTIONS: ClientSessionOptions & { readonly strictSingleValueFields: boolean } = {
  strictSingleValueFields: false,
};

export interface RawAnswer {
  readonly grpcStatus: string;
  /** Headers and trailers together. */
  readonly headers: IncomingHttpHeaders;
}

/** The message with gRPC's five-byte prefix. */
export function grpcFrame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/**
 * Sends one request on a connection of its own and resolves to the answer.
 *
 * @param body everything after the headers, see grpcFrame.
 * @param endStream whether the request ends there; otherwise it stays open until the server has answered.
 */
export function rawGrpcCall(
  port: number,
  path: string,
  headers: Readonly<Record<string, string | string[]>>,
  body: Buffer,
  { endStream } = { endStream: true },
): Promise<RawAnswer> {
  const session = connect(`http://127.0.0.1:${port}`, SESSION_OPTIONS);
  return new Promise<RawAnswer>((resolve, reject) => {
    session.on("error", reject);
    const fixed: OutgoingHttpHeaders = {
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    };
    const stream = session.request(Object.assign(fixed, headers));
    let received: IncomingHttpHeaders = {};
    stream.on("response", (first) => {
      received = { ...received, ...first };
    });
    stream.on("trailers", (last) => {
      received = { ...received, ...last };
    });
    stream.on("error", reject);
    stream.on("close", () => resolve({ grpcStatus: String(received["grpc-status"]), headers: received }));
    stream.resume();
    if (endStream) {
      stream.end(body);
    } else {
      stream.write(body);
      stream.on("end", () => stream.end());
    }
  }).finally(() => session.close());
}
