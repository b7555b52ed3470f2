/**
 * One HTTP request to one member. It uses Node's own HTTP client, because `fetch` does not support custom certificate
 * authorities. Redirects are not followed: a token is sent only to the given addresses.
 */

import type { ClientRequestArgs, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { QuoinError } from "../errors/index.ts";
import { noAnswer } from "./connection-failure.ts";
import { endpointOf } from "./endpoint.ts";
import { proxyFor } from "./environment-proxy.ts";
import type { HttpAnswer } from "./http-failure.ts";
import { dialThrough } from "./proxy-tunnel.ts";
import { Tls, type TlsOptions } from "./tls.ts";

/**
 * Node's HTTP clients. An `import` would read each of their exports, and some of these load Node's `fetch` with all that
 * it needs: that took a third of the time in which quoinctl starts.
 */
const http = process.getBuiltinModule("node:http");
const https = process.getBuiltinModule("node:https");

/** The content of a request. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/**
 * More than any answer has: an event of 10 MiB as text, or the sequences of a batch of 1,000,000 events. It limits how
 * much this side reads from a wrong address.
 */
const ANSWER_BYTES_MAX = 20 * 1_024 * 1_024;

/** The time limit for a connection and its handshake: a slower one may never come, and a new one comes at once. */
const CONNECT_TIMEOUT_MS = 1_000;

type Connected = (error: Error | null, stream: Duplex) => void;

/** Connections without TLS, through the proxy of the environment if there is one. */
class PlainAgent extends http.Agent {
  override createConnection(options: ClientRequestArgs, connected: Connected): Duplex | null | undefined {
    const direct = () => super.createConnection(options);
    return connectThrough(options, connected, direct, (socket) => socket);
  }
}

/** Connections with TLS, through the proxy of the environment if there is one. */
class TlsAgent extends https.Agent {
  override createConnection(options: ClientRequestArgs, connected: Connected): Duplex | null | undefined {
    const encrypted = (socket: object) => super.createConnection({ ...options, ...socket });
    return connectThrough(
      options,
      connected,
      () => encrypted({}),
      (socket) => encrypted({ socket }),
    );
  }
}

/** Returns a direct connection, or passes one through the proxy on when the proxy has opened it. */
function connectThrough(
  { host, port }: ClientRequestArgs,
  connected: Connected,
  direct: () => Duplex | null | undefined,
  over: (tunnel: Socket) => Duplex | null | undefined,
): Duplex | null | undefined {
  const address = endpointOf(host ?? "", port ?? "");
  const proxy = proxyFor(`http://${address}`);
  if (proxy === undefined) {
    return direct();
  }
  dialThrough(proxy, address, CONNECT_TIMEOUT_MS).then(
    (tunnel) => connected(null, over(tunnel) as Duplex),
    // Node takes no connection besides an error.
    (error) => connected(error, undefined as never),
  );
  return undefined;
}

/** Keeps connections to members, and sends requests over them. */
export class HttpExchange {
  readonly #tls: Tls;
  readonly #plain = new PlainAgent({ keepAlive: true });
  readonly #encrypted = new TlsAgent({ keepAlive: true });

  /** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for options that are not checked yet, and unusable. */
  constructor(tls: TlsOptions | Tls | undefined) {
    this.#tls = Tls.of(tls ?? {});
  }

  /**
   * Returns the answer, whatever its status.
   *
   * @throws QuoinError UNAVAILABLE without one; not executed if the request was certainly not sent.
   */
  async answer(origin: string, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const response = await this.open(origin, request, signal);
    try {
      return await wholeAnswer(response);
    } catch (error) {
      throw failed(origin, error, true);
    }
  }

  /** Returns the answer before its body has arrived; the signal aborts both. */
  open(origin: string, { method, path, headers, body }: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(path, origin);
    const options = { method, headers, signal };
    return new Promise((resolve, reject) => {
      const request =
        url.protocol === "https:"
          ? https.request(url, { ...options, ...this.#tls.current(), agent: this.#encrypted })
          : http.request(url, { ...options, agent: this.#plain });
      let isConnected = false;
      request.once("socket", (socket) => {
        const isPlain = url.protocol === "http:";
        if (request.reusedSocket || (isPlain && !socket.connecting)) {
          isConnected = true;
          return;
        }
        const timer = setTimeout(() => request.destroy(new Error("no connection in time")), CONNECT_TIMEOUT_MS);
        // Nothing is sent before the end of the handshake.
        socket.once(isPlain ? "connect" : "secureConnect", () => {
          isConnected = true;
          clearTimeout(timer);
        });
        socket.once("close", () => clearTimeout(timer));
      });
      request.once("response", resolve);
      request.on("error", (error) => reject(failed(origin, error, isConnected)));
      request.end(body);
    });
  }

  close(): void {
    this.#plain.destroy();
    this.#encrypted.destroy();
  }
}

/** Reads the rest of an answer. Raises an error if it is too large. */
export async function wholeAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) {
      throw new Error("the answer is too large");
    }
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

function failed(origin: string, thrown: unknown, wasSent: boolean): QuoinError {
  const text = thrown instanceof Error ? textOf(thrown) : String(thrown);
  return noAnswer(wasSent, origin, text, thrown);
}

/** The reason of an abort says more than the error of the request. */
function textOf(error: Error): string {
  if (error.name !== "AbortError") {
    return error.message;
  }
  return error.cause instanceof Error && error.cause.name === "TimeoutError" ? "no answer in time" : error.message;
}
