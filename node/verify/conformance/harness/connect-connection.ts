/**
 * A connection by the Connect protocol, with JSON. A library makes the JSON from the descriptors of the contract. A
 * request as bytes is sent as protobuf.
 */

import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestEncrypted } from "node:https";
import { create, createFileRegistry, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Metadata } from "@grpc/grpc-js";
import { decodeStatusDetails, readDescriptorSet, type StatusDetails } from "@quoin/proto";
import type { Answer } from "./answer.ts";
import { bytesOf, type CallOptions, Connection, type Pending, type Sent } from "./connection.ts";
import type { Operation } from "./operations.ts";
import type { Origin } from "./raw-call.ts";
import { Stream } from "./stream.ts";

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readDescriptorSet()));
/** One byte of flags, and the length of the message in four bytes. */
const PREFIX_BYTES = 5;
const END_OF_STREAM = 2;
/** The code of a call that this side has ended. */
const CANCELLED = { code: "CANCELLED", message: "the client cancelled the call", details: undefined };

/** An error as the protocol sends it. */
interface ErrorBody {
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly { readonly type: string; readonly value: string }[];
}

/** The last message of a stream. */
interface EndOfStream {
  readonly error?: ErrorBody;
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
}

export class ConnectConnection extends Connection {
  readonly protocol = "connect";
  readonly #origin: Origin;

  /** @param origin where the member serves HTTP */
  constructor(endpoint: string, origin: Origin, token: string) {
    super(endpoint, token);
    this.#origin = origin;
  }

  begin<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Sent<Request>,
    options: CallOptions = {},
  ): Pending<Response> {
    const form = Buffer.isBuffer(fields) ? "proto" : "json";
    const cancelling = new AbortController();
    const body = bodyOf(operation, fields);
    const request = this.#send(operation.method.path, `application/${form}`, options, body, cancelling.signal);
    const answer = answerTo(request, cancelling.signal, async (response): Promise<Answer<Response>> => {
      const received = await bodyOfAnswer(response);
      const metadata = metadataOf(response.headers);
      return response.statusCode === 200
        ? {
            response: responseOf(operation, form, received),
            code: "OK",
            message: "",
            details: undefined,
            headers: metadata,
            trailers: metadata,
          }
        : { response: undefined, ...statusOf(JSON.parse(received.toString())), headers: metadata, trailers: metadata };
    });
    return { answer, cancel: () => cancelling.abort() };
  }

  stream<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Sent<Request>,
    options: CallOptions = {},
  ): Stream<Response> {
    const form = Buffer.isBuffer(fields) ? "proto" : "json";
    const envelope = enveloped(bodyOf(operation, fields));
    const cancelling = new AbortController();
    const contentType = `application/connect+${form}`;
    const request = this.#send(operation.method.path, contentType, options, envelope, cancelling.signal);
    const stream = new Stream<Response>(() => cancelling.abort());
    const end = answerTo(request, cancelling.signal, async (response) => {
      for await (const { flags, message } of messagesOf(response)) {
        if (flags === END_OF_STREAM) {
          return endOf(JSON.parse(message.toString()));
        }
        stream.receive(responseOf(operation, form, message));
      }
      throw new Error("the stream has no end");
    });
    void end.then((answer) => stream.end(answer));
    return stream;
  }

  /** Each call has its own connection. */
  close(): void {}

  #send(path: string, contentType: string, options: CallOptions, body: Uint8Array, signal: AbortSignal): ClientRequest {
    const { url, ca } = this.#origin;
    const { hostname, port } = new URL(url);
    const send = ca === undefined ? requestPlain : requestEncrypted;
    const request = send({ hostname, port, path, method: "POST", agent: false, signal, ...(ca && { ca }) });
    request.setHeader("content-type", contentType);
    request.setHeader("connect-protocol-version", "1");
    // Otherwise a server that refuses a large body closes the connection, and a late piece could hide the answer.
    request.setHeader("connection", "keep-alive");
    if (options.timeoutMs !== undefined) {
      request.setHeader("connect-timeout-ms", options.timeoutMs);
    }
    for (const [name, values] of this.metadataOf(options)) {
      if (values.length > 0) {
        request.setHeader(name, values);
      }
    }
    request.end(body);
    return request;
  }
}

/** The answer, or CANCELLED if this side has ended the call. */
function answerTo<Response>(
  request: ClientRequest,
  cancelled: AbortSignal,
  read: (response: IncomingMessage) => Promise<Answer<Response>>,
): Promise<Answer<Response>> {
  const arrived = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
  });
  return arrived.then(read).catch((error: Error) => {
    if (cancelled.aborted) {
      return { response: undefined, ...CANCELLED, headers: new Metadata(), trailers: new Metadata() };
    }
    throw error;
  });
}

function bodyOf<Request, Response>(operation: Operation<Request, Response>, fields: Sent<Request>): Uint8Array {
  if (Buffer.isBuffer(fields)) {
    return fields;
  }
  const descriptor = messageOf(operation.method.path, "input");
  return Buffer.from(JSON.stringify(toJson(descriptor, fromBinary(descriptor, bytesOf(operation, fields)))));
}

/** Reads an answer strictly: an unknown field is an error. */
function responseOf<Request, Response>(
  { method }: Operation<Request, Response>,
  form: "json" | "proto",
  body: Buffer,
): Response {
  if (form === "proto") {
    return method.responseDeserialize(body);
  }
  const descriptor = messageOf(method.path, "output");
  const message = fromJson(descriptor, JSON.parse(body.toString()));
  return method.responseDeserialize(Buffer.from(toBinary(descriptor, message)));
}

function messageOf(path: string, side: "input" | "output") {
  const [, service = "", name = ""] = path.split("/");
  const method = registry.getService(service)?.methods.find((each) => each.name === name);
  if (method === undefined) {
    throw new Error(`${path} is not a method of the contract`);
  }
  return method[side];
}

function statusOf({
  code,
  message = "",
  details = [],
}: ErrorBody): Pick<Answer<never>, "code" | "message" | "details"> {
  const name = code === "canceled" ? "CANCELLED" : code.toUpperCase();
  return { code: name, message, details: details.length === 0 ? undefined : detailsOf(message, details) };
}

function detailsOf(message: string, details: NonNullable<ErrorBody["details"]>): StatusDetails {
  const descriptor = registry.getMessage("google.rpc.Status");
  if (descriptor === undefined) {
    throw new Error("the contract has no google.rpc.Status");
  }
  const packed = details.map(({ type, value }) => ({
    $typeName: "google.protobuf.Any" as const,
    typeUrl: `type.googleapis.com/${type}`,
    value: Buffer.from(value, "base64"),
  }));
  const status = create(descriptor, { message, details: packed } as never);
  return decodeStatusDetails(toBinary(descriptor, status));
}

function endOf({ error, metadata = {} }: EndOfStream): Answer<never> {
  const status = error === undefined ? { code: "OK", message: "", details: undefined } : statusOf(error);
  return { response: undefined, ...status, headers: new Metadata(), trailers: metadataOf(metadata) };
}

function metadataOf(fields: Readonly<Record<string, string | readonly string[] | undefined>>): Metadata {
  const metadata = new Metadata();
  for (const [name, values] of Object.entries(fields)) {
    for (const value of [values ?? []].flat()) {
      metadata.add(name, value);
    }
  }
  return metadata;
}

async function bodyOfAnswer(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* messagesOf(response: IncomingMessage): AsyncGenerator<{ flags: number; message: Buffer }> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of response) {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= PREFIX_BYTES && bytes.length >= PREFIX_BYTES + bytes.readUInt32BE(1)) {
      const end = PREFIX_BYTES + bytes.readUInt32BE(1);
      yield { flags: bytes.readUInt8(0), message: bytes.subarray(PREFIX_BYTES, end) };
      bytes = bytes.subarray(end);
    }
  }
}

function enveloped(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
