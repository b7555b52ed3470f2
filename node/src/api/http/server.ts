/**
 * The server under an application: how long a connection may take for what, and how it ends.
 *
 * Node answers some requests by itself, before any application sees them: those that are not HTTP, have too large
 * headers or come too slowly. Here these get the same kind of answer as all others.
 */

import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { COMMON_HEADERS } from "./common-headers.ts";
import { HttpError } from "./http-error.ts";
import { errorBody } from "./send-error.ts";

export interface HttpTimeouts {
  /** From the first byte of a request, or from the connection, to the end of its headers. */
  readonly headersMs: number;
  /** To the end of its body. */
  readonly requestMs: number;
  /** For the next request on a connection. */
  readonly keepAliveMs: number;
}

/** A minute of keep-alive is what load balancers expect at least; the others keep slow clients from piling up. */
const DEFAULT_HTTP_TIMEOUTS: HttpTimeouts = { headersMs: 10_000, requestMs: 10_000, keepAliveMs: 65_000 };

/** Timeouts are looked after this often, so they may be this much late. */
const TIMEOUT_CHECK_MS_MAX = 1_000;

/** A server for the application, not listening yet. */
export function createHttpServer(application: RequestListener, timeouts = DEFAULT_HTTP_TIMEOUTS): Server {
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS_MAX, timeouts.headersMs, timeouts.requestMs),
    // The application says so itself, in the form of its other answers.
    requireHostHeader: false,
  });
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on("request", (request, response) => {
    latest.set(request.socket, response);
    response.once("close", () => closeIfDraining(server));
    application(request, response);
  });
  // An expectation that nobody knows is no reason to refuse (RFC 9110 §10.1.1 leaves the choice).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    refuse(error, socket, latest.get(socket));
  });
  return server;
}

/**
 * Stops accepting, lets running requests end for at most `graceMs`, then cuts what is left. Resolves once no
 * connection is open.
 */
export function closeHttpServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    // The only error is that the server does not listen: then there is nothing to close.
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** A server that was closed lets go of connections that were idle then, not of those that become idle later. */
function closeIfDraining(server: Server): void {
  if (!server.listening) {
    server.closeIdleConnections();
  }
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex, response: ServerResponse | undefined): void {
  const begun = response?.headersSent === true && !(response.writableFinished && response.req.complete);
  if (error.code === "ECONNRESET" || !socket.writable || begun) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(errorBody(new HttpError("invalid_request", problemOf(error))));
  const head = [
    "HTTP/1.1 400 Bad Request",
    ...Object.entries(COMMON_HEADERS).map(([name, value]) => `${name}: ${value}`),
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function problemOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "the request did not arrive in time";
    case "HPE_HEADER_OVERFLOW":
      return "the headers are too large";
    default:
      return "the request is not valid HTTP";
  }
}
