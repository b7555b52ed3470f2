/**
 * A server of HTTP/2 over sockets, by prior knowledge or over TLS with ALPN "h2". It does not listen: sockets are handed to
 * it, so that its user decides at which addresses and from whom.
 */
import type { Socket } from "node:net";
import {
  createServer,
  type SecureContextOptions,
  type TLSSocket,
  type TlsOptions,
  type Server as TlsServer,
} from "node:tls";
import { BufferPool } from "./buffer-pool.ts";
import type { CloseReason } from "./closure.ts";
import { ConnectionSocket, LINGER_MS } from "./connection-socket.ts";
import { createCounters, type Http2Counters } from "./counters.ts";
import type { ConnectionHandler } from "./handlers.ts";
import { DEFAULT_QUEUED_BYTES_OF_ALL, type Http2Limits } from "./limits.ts";
import { QueuedBytes } from "./queued-bytes.ts";
import type { ServerConnection } from "./server-connection.ts";
import { TurnWrites } from "./turn-writes.ts";

const ALPN_PROTOCOL = "h2";
/** Connections are asked this often what is due: their times are in seconds. */
const TICK_MS = 1_000;
const NO_FIELDS: ReadonlySet<string> = new Set();

export interface Http2ServerOptions {
  readonly limits: Http2Limits;
  /** Bytes of answers that wait, of all connections together. Above it, those that have the most of them are closed. */
  readonly queuedBytesOfAll?: number;
  /** Certificate, key and whom clients must prove to be; null = plain text. */
  readonly tls: TlsOptions | null;
  /** Names of fields of answers whose values differ in most of them. */
  readonly varyingFields?: ReadonlySet<string>;
  /**
   * A connection begins; with TLS, after the handshake.
   *
   * @returns what is called for its requests
   */
  readonly onConnection: (connection: ServerConnection, socket: Socket) => ConnectionHandler;
}

export class Http2Server {
  readonly counters: Http2Counters = createCounters();
  readonly #options: Http2ServerOptions;
  readonly #tlsServer: TlsServer | null;
  readonly #pool = new BufferPool();
  readonly #queuedOfAll: QueuedBytes;
  readonly #writes = new TurnWrites();
  readonly #connections = new Set<ConnectionSocket>();
  /** The sockets that were accepted, below TLS. */
  readonly #sockets = new Set<Socket>();
  #ticks: NodeJS.Timeout | null = null;
  #isDraining = false;
  #onAllClosed: (() => void)[] = [];

  constructor(options: Http2ServerOptions) {
    this.#options = options;
    const { queuedBytesOfAll = DEFAULT_QUEUED_BYTES_OF_ALL } = options;
    this.#queuedOfAll = new QueuedBytes(queuedBytesOfAll, () => this.#giveUpLargest());
    this.#tlsServer = options.tls === null ? null : this.#createTlsServer(options.tls);
  }

  /** The sockets that are open, with those whose handshake of TLS goes on. */
  get socketCount(): number {
    return this.#sockets.size;
  }

  /** Serves a socket that a client has connected, and that nothing was read from. */
  accept(socket: Socket): void {
    if (this.#isDraining) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on("close", () => this.#onSocketClosed(socket));
    if (this.#tlsServer === null) {
      this.#serve(socket);
    } else {
      // Errors end the socket of TLS as well; a listener here must be.
      socket.on("error", () => socket.destroy());
      this.#tlsServer.emit("connection", socket);
    }
  }

  /** Connections that begin from now on are shown another certificate. */
  useCertificate(certificate: SecureContextOptions): void {
    this.#tlsServer?.setSecureContext(certificate);
  }

  /**
   * Serves no more sockets, and lets the open streams end. Connections that are open after `graceMs` milliseconds are
   * ended in any case. Resolves when all sockets are closed.
   */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const deadlineMs = performance.now() + graceMs;
    for (const { connection } of this.#connections) {
      connection.drain(deadlineMs);
    }
    const deadline = setTimeout(() => this.#tick(Math.max(deadlineMs, performance.now())), graceMs);
    const last = setTimeout(() => this.#destroyAll(), graceMs + LINGER_MS);
    await this.#allClosed();
    clearTimeout(deadline);
    clearTimeout(last);
  }

  /** Serves no more sockets, and destroys those that are open. Resolves when all are closed. */
  async close(): Promise<void> {
    this.#isDraining = true;
    for (const { connection } of this.#connections) {
      connection.close();
    }
    this.#destroyAll();
    await this.#allClosed();
  }

  #serve(socket: Socket): void {
    const { limits, varyingFields = NO_FIELDS, onConnection } = this.#options;
    const connection = new ConnectionSocket(socket, {
      limits,
      counters: this.counters,
      pool: this.#pool,
      queuedOfAll: this.#queuedOfAll,
      varyingFields,
      writes: this.#writes,
      handlerOf: (begun) => onConnection(begun, socket),
      onClosed: () => this.#remove(connection),
    });
    this.#connections.add(connection);
    this.#ticks ??= setInterval(() => this.#tick(performance.now()), TICK_MS).unref();
  }

  #createTlsServer(tls: TlsOptions): TlsServer {
    const handshakeTimeout = this.#options.limits.handshakeMs;
    const server = createServer({ ...tls, ALPNProtocols: [ALPN_PROTOCOL], handshakeTimeout });
    server.on("secureConnection", (socket) => this.#onSecureConnection(socket));
    server.on("tlsClientError", (_error, socket) => {
      this.#refuse(socket, "tls-error");
    });
    return server;
  }

  #onSecureConnection(socket: TLSSocket): void {
    if (socket.alpnProtocol !== ALPN_PROTOCOL) {
      this.#refuse(socket, "no-alpn");
      return;
    }
    if (this.#isDraining) {
      socket.destroy();
      return;
    }
    // RFC 9113 §9.2.1 forbids it, and nothing needs it.
    socket.disableRenegotiation();
    this.#serve(socket);
  }

  /** A socket on which no connection began. */
  #refuse(socket: TLSSocket, reason: CloseReason): void {
    this.counters.closedConnections[reason]++;
    socket.destroy();
  }

  #onSocketClosed(socket: Socket): void {
    this.#sockets.delete(socket);
    this.#callIfAllClosed();
  }

  #remove(connection: ConnectionSocket): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0 && this.#ticks !== null) {
      clearInterval(this.#ticks);
      this.#ticks = null;
    }
    this.#callIfAllClosed();
  }

  /** Closes connections until what waits of all is within its bound. */
  #giveUpLargest(): void {
    while (this.#queuedOfAll.isExceeded) {
      let largest: ServerConnection | null = null;
      for (const { connection } of this.#connections) {
        if (largest === null || connection.queuedBytes > largest.queuedBytes) {
          largest = connection;
        }
      }
      if (largest === null || largest.queuedBytes === 0) {
        throw new Error("Bytes of answers are counted that wait in no connection");
      }
      largest.giveUp();
    }
  }

  #tick(nowMs: number): void {
    for (const connection of this.#connections) {
      connection.tick(nowMs);
    }
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  get #isAllClosed(): boolean {
    return this.#sockets.size === 0 && this.#connections.size === 0;
  }

  async #allClosed(): Promise<void> {
    if (!this.#isAllClosed) {
      await new Promise<void>((resolve) => {
        this.#onAllClosed.push(resolve);
      });
    }
  }

  #callIfAllClosed(): void {
    if (this.#isAllClosed) {
      for (const resolve of this.#onAllClosed.splice(0)) {
        resolve();
      }
    }
  }
}
