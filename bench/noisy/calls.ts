/** Calls of gRPC and requests of HTTP that a noise makes by hand. */

import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { connect, type Socket } from "node:net";
import { Client, credentials, Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { quoinHeaders } from "../clusters/index.ts";
import { untilOver } from "./noise.ts";

const DEADLINE_MS = 10_000;

/** A channel to one member. */
export class Channel {
  readonly #client: Client;
  readonly #token: string | null;

  /** @param token null = the calls have none. */
  constructor(endpoint: string, token: string | null) {
    this.#token = token;
    this.#client = new Client(endpoint, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  }

  /** Whether the call was answered with OK. */
  ask<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request | Buffer,
    deadlineMs = DEADLINE_MS,
  ): Promise<boolean> {
    const serialize = (value: Request | Buffer): Buffer =>
      Buffer.isBuffer(value) ? value : method.requestSerialize(value);
    const options = { deadline: Date.now() + deadlineMs };
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(
        method.path,
        serialize,
        (bytes: Buffer) => bytes,
        request,
        this.#metadata(),
        options,
        (error) => resolve(error === null),
      );
    });
  }

  /** Opens a stream, and drops its messages. */
  stream<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    extra: Readonly<Record<string, string>> = {},
  ): void {
    const metadata = this.#metadata();
    for (const [name, value] of Object.entries(extra)) {
      metadata.set(name, value);
    }
    const identity = (bytes: Buffer): Buffer => bytes;
    this.#client
      .makeServerStreamRequest(method.path, method.requestSerialize, identity, request, metadata)
      .on("error", () => undefined)
      .resume();
  }

  close(): void {
    this.#client.close();
  }

  #metadata(): Metadata {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(quoinHeaders(this.#token ?? ""))) {
      metadata.set(name, value);
    }
    if (this.#token === null) {
      metadata.remove("authorization");
    }
    return metadata;
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 512 });

/** Requests the path of `host:port`, reads the whole answer, and resolves to whether its status is below 400. */
export async function ask(
  endpoint: string,
  path: string,
  { body, ...options }: RequestOptions & { readonly body?: Buffer | string } = {},
): Promise<boolean> {
  const response = await answer(endpoint, path, { agent, ...options }, body);
  for await (const _ of response) {
    // Only its end matters.
  }
  return (response.statusCode ?? 500) < 400;
}

/** The beginning of an answer. */
export function answer(
  endpoint: string,
  path: string,
  options: RequestOptions,
  body?: Buffer | string,
): Promise<IncomingMessage> {
  const [host, port] = endpoint.split(":");
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ host, port, path, timeout: DEADLINE_MS, ...options }, resolve);
    asked.on("error", reject).on("timeout", () => asked.destroy(new Error("no answer")));
    asked.end(body);
  });
}

/** Opens connections until the signal, as many as there may be, and opens another one where one was closed. */
export async function holdConnections(
  endpoints: readonly string[],
  count: number,
  over: AbortSignal,
  greeting: Buffer | null = null,
): Promise<string> {
  const open = new Set<Socket>();
  let closed = 0;
  const connectOne = (at: number): void => {
    const [host = "", port] = (endpoints[at % endpoints.length] as string).split(":");
    const socket = connect({ host, port: Number(port) });
    open.add(socket);
    socket.on("error", () => undefined).resume();
    if (greeting !== null) {
      socket.once("connect", () => socket.write(greeting));
    }
    socket.once("close", () => {
      open.delete(socket);
      closed++;
      if (!over.aborted) {
        setImmediate(connectOne, at);
      }
    });
  };
  for (let at = 0; at < count; at++) {
    connectOne(at);
  }
  await untilOver(over);
  const held = open.size;
  for (const socket of open) {
    socket.destroy();
  }
  return `${held} open, ${closed} closed by members`;
}
