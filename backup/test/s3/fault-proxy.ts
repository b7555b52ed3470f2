/**
 * A proxy between a store and its server. It gives single requests, by their number, the faults of networks and
 * servers. It passes everything else on with the same headers, so that signatures stay valid.
 */

import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export type Fault =
  /** The connection is closed before anything reaches the server. */
  | "refuse"
  /** The connection is lost in the middle of the request. */
  | "cut-request"
  /** The server has executed the request, and its answer is lost. */
  | "lose-answer"
  /** The connection is lost in the middle of the answer. */
  | "cut-answer"
  /** The server asks for fewer requests. */
  | "slow-down"
  | "server-error"
  /** The server refuses the request for good, so another attempt does not help. */
  | "denied"
  /** The server no longer knows the upload, as a server says that forgets an upload when it is complete. */
  | "no-such-upload"
  /** The server has executed the request, and the answer does not come in time. */
  | "late";

/** What a store outlasts by trying again. */
export const FAULTS: readonly Fault[] = [
  "refuse",
  "cut-request",
  "lose-answer",
  "cut-answer",
  "slow-down",
  "server-error",
  "late",
];

/** Where a server listens. */
export type Target = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/** A request, as the plan sees it. */
export interface AskedRequest {
  readonly method: string;
  readonly url: string;
}

/** The fault of each request, by its number from 1 on. */
export type FaultPlan = (number: number, request: AskedRequest) => Fault | undefined;

/** PEM of the certificate that the proxy shows to clients, and of its key. */
export interface ProxyCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export class FaultProxy {
  readonly #target: Target;
  readonly #scheme: "http" | "https";
  readonly #server: Server;
  #count = 0;
  plan: FaultPlan = () => undefined;

  private constructor(target: Target, certificate: ProxyCertificate | null) {
    this.#target = target;
    this.#scheme = certificate === null ? "http" : "https";
    const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => this.#handle(incoming, outgoing);
    this.#server = certificate === null ? createServer(handle) : createTlsServer(certificate, handle);
  }

  /** @param certificate null = clients connect without TLS */
  static async open(target: Target, certificate: ProxyCertificate | null = null): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, certificate);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many requests came since the last call of `begin`. */
  get count(): number {
    return this.#count;
  }

  /** Counts from 1 again, with another plan. */
  begin(plan: FaultPlan = () => undefined): void {
    this.#count = 0;
    this.plan = plan;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #handle(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#count += 1;
    const { method = "", url = "" } = incoming;
    const fault = this.plan(this.#count, { method, url });
    incoming.on("error", () => undefined);
    outgoing.on("error", () => undefined);
    switch (fault) {
      case "refuse":
        incoming.socket.destroy();
        return;
      case "slow-down":
        answer(incoming, outgoing, 503, "SlowDown", "Please reduce your request rate.");
        return;
      case "server-error":
        answer(incoming, outgoing, 500, "InternalError", "We encountered an internal error.");
        return;
      case "denied":
        answer(incoming, outgoing, 403, "AccessDenied", "Access Denied.");
        return;
      case "no-such-upload":
        answer(incoming, outgoing, 404, "NoSuchUpload", "The specified upload does not exist.");
        return;
      default:
        this.#forward(incoming, outgoing, fault);
    }
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | undefined): void {
    const { method, url, rawHeaders } = incoming;
    const upstream = request({ ...this.#target, method, path: url, headers: rawHeaders, setHost: false, agent: false });
    upstream.on("error", () => incoming.socket.destroy());
    upstream.on("response", (response) => {
      response.on("error", () => incoming.socket.destroy());
      passBack(response, outgoing, fault);
    });
    outgoing.on("close", () => upstream.destroy());
    if (fault === "cut-request") {
      cutRequest(incoming, () => upstream.destroy());
    } else {
      incoming.pipe(upstream);
    }
  }
}

/** The server's answer is complete before it is sent on, so the server has finished the request. */
function passBack(response: IncomingMessage, outgoing: ServerResponse, fault: Fault | undefined): void {
  const { statusCode = 500, rawHeaders } = response;
  if (fault === undefined) {
    outgoing.writeHead(statusCode, rawHeaders);
    response.pipe(outgoing);
    return;
  }
  const parts: Buffer[] = [];
  response.on("data", (part: Buffer) => parts.push(part));
  response.on("end", () => {
    const body = Buffer.concat(parts);
    if (fault === "cut-answer" && body.length > 1) {
      outgoing.writeHead(statusCode, rawHeaders);
      outgoing.write(body.subarray(0, body.length >> 1), () => outgoing.socket?.destroy());
    } else if (fault !== "late") {
      outgoing.socket?.destroy();
    }
    // A late answer never comes: the client closes the connection.
  });
}

/** Reads half of the body, if there is one, and closes the connection. */
function cutRequest(incoming: IncomingMessage, abort: () => void): void {
  const length = Number(incoming.headers["content-length"] ?? 0);
  let taken = 0;
  const cut = (): void => {
    abort();
    incoming.socket.destroy();
  };
  incoming.on("data", (part: Buffer) => {
    taken += part.length;
    if (taken >= length / 2) {
      cut();
    }
  });
  incoming.on("end", cut);
}

function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
  code: string,
  message: string,
): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  incoming.resume();
  incoming.on("end", () => {
    outgoing.writeHead(status, { "content-type": "application/xml", "content-length": Buffer.byteLength(body) });
    outgoing.end(body);
  });
}
