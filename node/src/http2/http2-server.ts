/**
 * An HTTP/2 server over sockets, by prior knowledge or over TLS with ALPN "h2". It does not listen: the caller passes
 * sockets to it, and so decides about addresses and clients.
 */
import type { Socket } from "node:net";
import {
  createServer,
  type SecureContextOptions,
  type TLSSocket,
  type TlsOptions,
  type Server as TlsServer,
} from "node:tls";
import { type Turns, turnsOfThisThread } from "../collections/index.ts";
import { BufferPool } from "./buffer-pool.ts";
import type { CloseReason } from "./close-reason.ts";
import { ConnectionSocket, LINGER_MS } from "./connection-socket.ts";
import { createCounters, type Http2Counters } from "./counters.ts";
import { DEFAULT_QUEUED_BYTES_OF_ALL, type Http2Limits } from "./limits.ts";
import { QueuedBytes } from "./queued-bytes.ts";
import type { ConnectionHandler, ServerConnection } from "./server-connection.ts";
import { TurnWrites } from "./turn-writes.ts";

const ALPN_PROTOCOL = "h2";
/** Interval at which connections check their timers, which are in seconds. */
const TICK_MS = 1_000;
const NO_FIELDS: ReadonlySet<string> = new Set();

export interface Http2ServerOptions {
  readonly limits: Http2Limits;
  /**
   * Maximum queued bytes of answers, of all connections together. Above it, connections of the owner with the most are
   * closed, the one with the most first.
   */
  readonly queuedBytesOfAll?: number;
  /** Certificate, key and client authentication; null = unencrypted. */
  readonly tls: TlsOptions | null;
  /** The turns of its connections. Absent = those of the thread. */
  readonly turns?: Turns;
  /** Names of answer fields whose values differ in most answers. */
  readonly varyingFields?: ReadonlySet<string>;
  /**
   * Called when a connection begins; with TLS, after the handshake.
   *
   * @returns the handler of its requests
   */
  readonly onConnection: (connection: ServerConnection, socket: Socket) => ConnectionHandler;
}

/** The queued answers of an owner. */
interface Queues {
  bytes: number;
  readonly connections: ServerConnection[];
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
    this.#queuedOfAll = new QueuedBytes(queuedBytesOfAll, () => this.#closeLargestQueues());
    this.#tlsServer = options.tls === null ? null : this.#createTlsServer(options.tls);
  }

  /** Number of open sockets, including those in the TLS handshake. */
  get socketCount(): number {
    return this.#sockets.size;
  }

  /** Serves a connected socket from which nothing was read yet. */
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
      // An error also ends the TLS socket, but this socket needs its own listener.
      socket.on("error", () => socket.destroy());
      this.#tlsServer.emit("connection", socket);
    }
  }

  /** Uses another certificate for new connections. */
  useCertificate(certificate: SecureContextOptions): void {
    this.#tlsServer?.setSecureContext(certificate);
  }

  /**
   * Serves no more sockets, and lets the open streams end. After `graceMs` milliseconds it ends the remaining
   * connections. Resolves when all sockets are closed.
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

  /** Serves no more sockets, and destroys the open ones. Resolves when all are closed. */
  async close(): Promise<void> {
    this.#isDraining = true;
    for (const { connection } of this.#connections) {
      connection.close();
    }
    this.#destroyAll();
    await this.#allClosed();
  }

  #serve(socket: Socket): void {
    const { limits, varyingFields = NO_FIELDS, turns = turnsOfThisThread, onConnection } = this.#options;
    const connection = new ConnectionSocket(socket, {
      limits,
      counters: this.counters,
      pool: this.#pool,
      queuedOfAll: this.#queuedOfAll,
      varyingFields,
      writes: this.#writes,
      turns,
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
    // RFC 9113 §9.2.1 forbids renegotiation.
    socket.disableRenegotiation();
    this.#serve(socket);
  }

  /** Closes a socket before a connection begins. */
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

  /**
   * Closes connections of the owner with the most queued bytes until there is room for more. It looks at all of them,
   * so it must not be called for each answer of a client that takes none.
   */
  #closeLargestQueues(): void {
    while (this.#queuedOfAll.isExceeded) {
      const owners = new Map<string | ServerConnection, Queues>();
      let most: Queues = { bytes: 0, connections: [] };
      for (const { connection } of this.#connections) {
        const owner = connection.owner ?? connection;
        const queues = owners.get(owner) ?? { bytes: 0, connections: [] };
        owners.set(owner, queues);
        queues.bytes += connection.queuedBytes;
        queues.connections.push(connection);
        most = queues.bytes > most.bytes ? queues : most;
      }
      if (most.bytes === 0) {
        throw new Error("More queued bytes are counted than the connections have");
      }
      for (const connection of most.connections.sort((one, other) => other.queuedBytes - one.queuedBytes)) {
        connection.closeOverQueueLimit();
        if (this.#queuedOfAll.hasRoom) {
          break;
        }
      }
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
