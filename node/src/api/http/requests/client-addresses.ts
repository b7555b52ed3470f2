/**
 * Finds the client address of a request, for limits and logs: the address of its connection or, behind trusted proxies,
 * the address that they report. And keeps, for each connection, what its client has shown so far.
 *
 * A proxy reports it in the header X-Forwarded-For, or by the PROXY protocol at the beginning of each connection. With
 * both, X-Forwarded-For is read starting from the address of the PROXY protocol.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { clientOf } from "../../../peers/index.ts";
import { type Scheduler, systemScheduler } from "../../../replica/index.ts";
import { ClientConnection } from "../../calls/index.ts";
import { type ConnectionReports, endsOf } from "../../connections/index.ts";
import { parseProxyHeader } from "./proxy-header.ts";
import { canonicalAddress, plainAddress, TrustedProxies } from "./trusted-proxies.ts";

export interface ProxyOptions {
  readonly trusted: TrustedProxies;
  /** Whether trusted proxies begin each connection with a header of the PROXY protocol. */
  readonly speaksProxyProtocol: boolean;
  /** Called when a connection from this proxy was closed because it did not begin with the header. */
  readonly onRefused?: (proxy: string) => void;
  readonly connections?: ConnectionReports;
  readonly scheduler?: Scheduler;
}

/** A proxy sends its header at once. */
const HEADER_MS = 5_000;
/** The first status code of a refusal. */
const REFUSAL = 400;

/** The client of a connection, with the address that its last request came from. */
interface KnownConnection {
  readonly address: string;
  readonly connection: ClientConnection;
}

export class ClientAddresses {
  readonly #options: ProxyOptions;
  /**
   * Addresses from the PROXY protocol, of open connections, by their two ends. The socket cannot be the key: with TLS,
   * the request has another socket.
   */
  readonly #fromProxies = new Map<string, string>();
  /** Lengths of the headers of the PROXY protocol. */
  readonly #headerBytes = new WeakMap<Socket, number>();
  readonly #connections = new WeakMap<Socket, KnownConnection>();

  constructor(options: ProxyOptions = { trusted: new TrustedProxies([]), speaksProxyProtocol: false }) {
    this.#options = options;
  }

  /**
   * Returns the address of the client; "" once the connection is closed. IPv4 addresses never have the form of IPv6.
   */
  of(request: IncomingMessage): string {
    const { trusted } = this.#options;
    const { socket } = request;
    const peer =
      (this.#fromProxies.size === 0 ? undefined : this.#fromProxies.get(endsOf(socket))) ?? socket.remoteAddress ?? "";
    const forwardedFor = trusted.includes(peer) ? request.headersDistinct["x-forwarded-for"] : undefined;
    return plainAddress(forwardedFor === undefined ? peer : trusted.clientAddress(peer, forwardedFor));
  }

  /** Returns what the client of the request has shown. A proxy may send requests of several clients on one connection. */
  connectionOf(request: IncomingMessage): ClientConnection {
    const { socket } = request;
    const address = this.of(request);
    const known = this.#connections.get(socket);
    if (known?.address === address) {
      return known.connection;
    }
    const connection = new ClientConnection(
      address,
      () => this.cut(socket),
      (user) => this.#options.connections?.verified(socket, user),
    );
    this.#connections.set(socket, { address, connection });
    return connection;
  }

  /** The user of the last token on the connection; without one, the address, as far as it is known. */
  ownerOf(socket: Socket): string {
    return this.#connections.get(socket)?.connection.owner ?? clientOf(socket.remoteAddress ?? "");
  }

  /** Whether one more refusal closes the connection of the request. */
  isAtLimit(request: IncomingMessage): boolean {
    // Nearly never, so the address is not found out for each request.
    return this.#connections.get(request.socket)?.connection.isAtLimit === true && this.connectionOf(request).isAtLimit;
  }

  /** Notes how a request was answered that was no call: see `ClientConnection.noteRefusal`. */
  noteAnswer(request: IncomingMessage, { statusCode }: ServerResponse): void {
    if (statusCode >= REFUSAL && !request.socket.destroyed) {
      this.connectionOf(request).noteRefusal();
    }
  }

  /** Closes a connection whose client misbehaves. */
  cut(socket: Socket): void {
    if (!socket.destroyed) {
      const { remoteAddress = "" } = socket;
      socket.destroy();
      this.#options.connections?.slowDown(remoteAddress);
    }
  }

  /** Returns the number of bytes from the client itself on this connection. */
  bytesFromClient(socket: Socket): number {
    return socket.bytesRead - (this.#headerBytes.get(socket) ?? 0);
  }

  /** Reads the header of the PROXY protocol of each connection before the server gets the connection. */
  readHeaders(server: Server): void {
    if (!this.#options.speaksProxyProtocol) {
      return;
    }
    const listeners = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      const go = () => {
        for (const listener of listeners) {
          listener.call(server, socket);
        }
      };
      if (this.#options.trusted.includes(socket.remoteAddress ?? "")) {
        this.#readHeader(socket, go);
      } else {
        go();
      }
    });
  }

  #readHeader(socket: Socket, go: () => void): void {
    let bytes: Buffer = Buffer.alloc(0);
    const refuse = () => {
      this.#options.onRefused?.(socket.remoteAddress ?? "");
      socket.destroy();
    };
    const { scheduler = systemScheduler } = this.#options;
    const stopTimer = scheduler.every(HEADER_MS, refuse);
    const settle = () => {
      stopTimer();
      socket.off("readable", onReadable).off("error", ignoreBecauseCloseFollows).off("close", settle);
    };
    const onReadable = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        bytes = Buffer.concat([bytes, chunk]);
      }
      const header = parseProxyHeader(bytes);
      if (header.kind === "invalid") {
        settle();
        socket.on("error", ignoreBecauseCloseFollows);
        refuse();
      } else if (header.kind === "complete") {
        settle();
        const address = header.address === null ? null : canonicalAddress(header.address);
        if (address !== null) {
          this.#rememberAddress(socket, address);
        }
        this.#headerBytes.set(socket, header.bytes);
        socket.unshift(bytes.subarray(header.bytes));
        go();
      }
    };
    socket.on("readable", onReadable).on("error", ignoreBecauseCloseFollows).on("close", settle);
  }

  #rememberAddress(socket: Socket, address: string): void {
    const ends = endsOf(socket);
    this.#fromProxies.set(ends, address);
    socket.once("close", () => this.#fromProxies.delete(ends));
  }
}

function ignoreBecauseCloseFollows(): void {}
