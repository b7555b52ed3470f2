/**
 * A call as raw HTTP/2 headers and bytes, for requests that a gRPC library would not send: repeated headers, a deadline
 * that the client itself ignores, truncated frames.
 */

import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { status } from "@grpc/grpc-js";
import { decodeStatusDetails, STATUS_DETAILS_TRAILER, type StatusDetails } from "@quoin/proto";

/** Allows repeated headers that HTTP allows only once. */
const SESSION_OPTIONS: ClientSessionOptions & { readonly strictSingleValueFields: boolean } = {
  strictSingleValueFields: false,
};
const PREFIX_BYTES = 5;

export interface RawAnswer {
  /** Name of the status. */
  readonly code: string;
  readonly message: string;
  readonly details: StatusDetails | undefined;
  /** Headers and trailers together. */
  readonly headers: IncomingHttpHeaders;
  /** Everything between headers and trailers: messages, each with its gRPC prefix. */
  readonly body: Buffer;
}

/** Target of a raw call: an origin such as http://127.0.0.1:7400, and the certificate authority for https. */
export interface Origin {
  readonly url: string;
  readonly ca?: Buffer;
}

/** The message with its gRPC prefix. */
export function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Sends the headers and the body, ends the request, and resolves with the answer. */
export function rawCall(
  origin: Origin,
  path: string,
  headers: Readonly<Record<string, string | string[]>>,
  body: Uint8Array,
): Promise<RawAnswer> {
  const session = sessionOf(origin);
  return new Promise<RawAnswer>((resolve, reject) => {
    session.on("error", reject);
    const stream = session.request(headersOf(path, headers));
    const received: IncomingHttpHeaders = {};
    stream.on("response", (first) => Object.assign(received, first));
    stream.on("trailers", (last) => Object.assign(received, last));
    stream.on("error", reject);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("close", () => resolve(answerOf(received, Buffer.concat(chunks))));
    stream.end(body);
  }).finally(() => session.close());
}

/** Sends the headers and the body, and leaves the call open. `break` breaks the connection without a message. */
export function openCall(
  origin: Origin,
  path: string,
  headers: Readonly<Record<string, string | string[]>>,
  body: Uint8Array,
): { break(): void } {
  const session = sessionOf(origin);
  session.on("error", () => undefined);
  const stream = session.request(headersOf(path, headers));
  stream.on("error", () => undefined);
  stream.resume();
  stream.end(body);
  return { break: () => session.socket.destroy() };
}

function sessionOf({ url, ca }: Origin): ClientHttp2Session {
  return connect(url, { ...SESSION_OPTIONS, ...(ca === undefined ? {} : { ca }) });
}

function headersOf(path: string, headers: Readonly<Record<string, string | string[]>>): OutgoingHttpHeaders {
  const fixed: OutgoingHttpHeaders = { ":method": "POST", ":path": path, "content-type": "application/grpc" };
  return Object.assign(fixed, { te: "trailers" }, headers);
}

function answerOf(headers: IncomingHttpHeaders, body: Buffer): RawAnswer {
  const encoded = headers[STATUS_DETAILS_TRAILER];
  return {
    code: status[Number(headers["grpc-status"])] ?? `HTTP ${headers[":status"]}`,
    message: decodeURIComponent(String(headers["grpc-message"] ?? "")),
    details: typeof encoded === "string" ? decodeStatusDetails(Buffer.from(encoded, "base64")) : undefined,
    headers,
    body,
  };
}
