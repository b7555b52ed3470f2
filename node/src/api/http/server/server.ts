/**
 * The server under an application: the timeouts of connections, and how connections end.
 *
 * Node itself answers some requests before the application sees them: requests that are not HTTP, have too large
 * headers or arrive too slowly. Here they get the same kind of answer as all others. A client that does not read its
 * answer is disconnected. So slow clients cost a bounded time, whatever they are slow at.
 */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { type Turns, turnsOfThisThread } from "../../../collections/index.ts";
import { CLIENT_TLS_VERSION, type ServerTls, type TlsSet } from "../../../peers/index.ts";
import { COMMON_HEADERS, ERROR_TYPE, errorBody, HttpError, REASON_HEADER } from "../answers/index.ts";
import { BODY_IDLE_MS, ClientAddresses, RequestOrder, readInTurns, type ServiceRequest } from "../requests/index.ts";

export interface HttpTimeouts {
  /** From the first byte of a request, or from the connection, to the end of the headers. */
  readonly headersMs: number;
  /** From the first byte of a request to the end of the body. */
  readonly requestMs: number;
  /** Silence within a body. */
  readonly bodyIdleMs: number;
  /** Wait for the next request on a connection. */
  readonly keepAliveMs: number;
  /** From the end of an answer until the client has received it. */
  readonly answerMs: number;
}

/**
 * Load balancers expect a keep-alive of at least one minute. The other timeouts bound the number of slow clients. A
 * body of 10 MiB arrives in time at 2 Mbit/s; its reader checks that it does not stall.
 */
export const DEFAULT_HTTP_TIMEOUTS: HttpTimeouts = {
  headersMs: 10_000,
  requestMs: 60_000,
  bodyIdleMs: BODY_IDLE_MS,
  keepAliveMs: 65_000,
  answerMs: 60_000,
};
/** Interval of the check of timeouts; a timeout may be this much late. */
const TIMEOUT_CHECK_MS_MAX = 1_000;
/** Bytes of the request line and all headers. */
const HEAD_BYTES_MAX = 16 * 1024;
/** The reader of a silent body refuses the request; its answer must leave before the connection is closed. */
const CUT_GRACE_MS = 500;
/** Milliseconds that a client may take for the TLS handshake. */
const HANDSHAKE_MS = 10_000;

export interface HttpServerOptions {
  readonly timeouts?: HttpTimeouts;
  /** The certificate for clients; null = unencrypted. */
  readonly tls?: ServerTls | null;
  /** Reads client addresses from proxies; absent = there are no proxies. */
  readonly clients?: ClientAddresses;
  readonly turns?: Turns;
}

/** Returns a server for the application, which does not listen yet. */
export function createHttpServer(application: RequestListener, options: HttpServerOptions = {}): Server | TlsServer {
  const {
    timeouts = DEFAULT_HTTP_TIMEOUTS,
    tls = null,
    clients = new ClientAddresses(),
    turns = turnsOfThisThread,
  } = options;
  const server = newServer(tls, {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS_MAX, timeouts.headersMs, timeouts.requestMs),
    // The application makes this check itself, with the form of its other answers.
    requireHostHeader: false,
    maxHeaderSize: HEAD_BYTES_MAX,
  });
  // Node silently drops headers above a count; the application refuses the request instead.
  server.maxHeadersCount = 0;
  const bodies = new IdleBodies(server, timeouts.bodyIdleMs);
  const order = new RequestOrder((socket) => clients.cut(socket));
  const broken = new WeakSet<Duplex>();
  server.on("request", (request, response) => {
    bodies.watch(request);
    if (clients.isAtLimit(request)) {
      // So the client does not send another request on it.
      response.setHeader("Connection", "close");
    }
    response.once("close", () => {
      closeIfDraining(server);
      const { isLogged, limitsFailures } = request as ServiceRequest;
      if (isLogged !== true && limitsFailures !== true) {
        clients.noteAnswer(request, response);
      }
    });
    endWithin(response, timeouts.answerMs);
    order.add(request.socket, response, () => application(request, response));
  });
  // A client that waits for 100 Continue gets it when the body is read, not before the request has passed its checks.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  // An unknown expectation is no reason to refuse (RFC 9110 §10.1.1 leaves the choice).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    if (broken.has(socket)) {
      return;
    }
    const hasBegun = clients.bytesFromClient(socket) > 0;
    if (!hasBegun) {
      // A client that begins a request just now would mistake an answer for the one to its request.
      socket.destroy();
      return;
    }
    // The client would also mistake the refusal for the answer to an earlier request, which is being executed.
    const earlier = order.unanswered(socket);
    if (earlier === undefined || error.code === "ECONNRESET") {
      refuse(error, socket, order.latest(socket));
    } else {
      broken.add(socket);
      earlier.once("close", () => refuse(error, socket, order.latest(socket)));
    }
  });
  readInTurns(server, tls === null ? "connection" : "secureConnection", turns, (socket) => clients.ownerOf(socket));
  clients.readHeaders(server);
  return server;
}

/**
 * Accepts no more connections, lets open requests end within `graceMs` milliseconds, then closes the remaining
 * connections. Resolves once no connection is open.
 */
export function closeHttpServer(server: Server | TlsServer, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    // The only error is that the server does not listen: then there is nothing to close.
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function newServer(tls: ServerTls | null, options: ServerOptions): Server | TlsServer {
  if (tls === null) {
    return createServer(options);
  }
  const requestCert = tls.needsClientCertificate;
  const handshake = { requestCert, rejectUnauthorized: requestCert, handshakeTimeout: HANDSHAKE_MS };
  const server = createTlsServer({ ...options, ...handshake, ...contextOf(tls.set) });
  tls.onChanged((set) => server.setSecureContext(contextOf(set)));
  return server;
}

function contextOf({ cert, key, ca }: TlsSet) {
  return { cert, key, minVersion: CLIENT_TLS_VERSION, ...(ca === undefined ? {} : { ca }) } as const;
}

/** Disconnects a client that does not receive the whole answer in time. For a stream, the time begins at its end. */
function endWithin(response: ServerResponse, answerMs: number): void {
  const limit = () => {
    const timer = setTimeout(() => response.destroy(), answerMs);
    response.once("close", () => clearTimeout(timer));
  };
  response.once("prefinish", limit);
  // An answer to a client that has gone also finishes, and must not start the timer.
  response.once("close", () => response.off("prefinish", limit));
}

/**
 * Requests whose body is not complete. A connection is closed when its body is silent for too long, also after a
 * refusal, when the rest of the body is discarded. A body that this side does not read yet does not count as silent.
 */
class IdleBodies {
  readonly #idleMs: number;
  /** The requests, with the bytes of their connection that had arrived and when. */
  readonly #seen = new Map<IncomingMessage, { bytes: number; atMs: number }>();

  constructor(server: Server | TlsServer, idleMs: number) {
    this.#idleMs = idleMs;
    const looking = setInterval(() => this.#check(), Math.min(TIMEOUT_CHECK_MS_MAX, idleMs)).unref();
    server.once("close", () => clearInterval(looking));
  }

  watch(request: IncomingMessage): void {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    if (length !== "0" || encoding !== undefined) {
      this.#seen.set(request, { bytes: request.socket.bytesRead, atMs: performance.now() });
      request.once("close", () => {
        if (request.complete) {
          this.#seen.delete(request);
        }
      });
    }
  }

  #check(): void {
    const nowMs = performance.now();
    for (const [request, seen] of this.#seen) {
      const { socket } = request;
      if (request.complete || socket.destroyed) {
        this.#seen.delete(request);
      } else if (socket.bytesRead !== seen.bytes || request.readableFlowing !== true) {
        seen.bytes = socket.bytesRead;
        seen.atMs = nowMs;
      } else if (nowMs - seen.atMs > this.#idleMs + CUT_GRACE_MS) {
        socket.destroy();
      }
    }
  }
}

/** A closing server closes connections that are idle at that time, but not those that become idle later. */
function closeIfDraining(server: Server | TlsServer): void {
  if (!server.listening) {
    server.closeIdleConnections();
  }
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex, response: ServerResponse | undefined): void {
  const begun = response?.headersSent === true && !(response.writableFinished && response.req.complete);
  // Before the end of the TLS handshake the client cannot read an answer.
  const isUnsecured = socket instanceof TLSSocket && socket.getCipher() === undefined;
  if (error.code === "ECONNRESET" || !socket.writable || begun || isUnsecured) {
    socket.destroy();
    return;
  }
  const answer = new HttpError("invalid_request", problemOf(error));
  const body = JSON.stringify(errorBody(answer));
  const head = [
    "HTTP/1.1 400 Bad Request",
    ...COMMON_HEADERS.map(([name, value]) => `${name}: ${value}`),
    `${REASON_HEADER}: ${answer.reason}`,
    `Content-Type: ${ERROR_TYPE}`,
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
