/**
 * From which address a request comes, for limits and logs: that of its connection, unless trusted proxies stand between.
 *
 * A proxy tells it in the header X-Forwarded-For, or by the PROXY protocol at the begin of each connection. What the one
 * says of the connection is where reading the other one begins.
 */

import type { IncomingMessage } from "node:http";
import type { Server, Socket } from "node:net";
import { parseProxyHeader } from "./proxy-header.ts";
import { canonicalAddress, plainAddress, TrustedProxies } from "./trusted-proxies.ts";

export interface ProxyOptions {
  readonly trusted: TrustedProxies;
  /** Whether trusted proxies begin each connection with a header of the PROXY protocol. */
  readonly speaksProxyProtocol: boolean;
  /** Told of a connection from this proxy that was cut off because it did not begin so. */
  readonly onRefused?: (proxy: string) => void;
}

/** A proxy says at once where its connection comes from. */
const HEADER_MS = 5_000;

export class ClientAddresses {
  readonly #options: ProxyOptions;
  /** What the PROXY protocol said of connections that are open, by the ends of each: TLS stands between, with another socket. */
  readonly #told = new Map<string, string>();
  /** Lengths of these headers. */
  readonly #headerBytes = new WeakMap<Socket, number>();

  constructor(options: ProxyOptions = { trusted: new TrustedProxies([]), speaksProxyProtocol: false }) {
    this.#options = options;
  }

  /** The address of the client; "" once the connection is closed. IPv4 addresses never look like those of IPv6. */
  of(request: IncomingMessage): string {
    const { trusted } = this.#options;
    const { socket } = request;
    const peer = (this.#told.size === 0 ? undefined : this.#told.get(endsOf(socket))) ?? socket.remoteAddress ?? "";
    const forwardedFor = trusted.includes(peer) ? request.headersDistinct["x-forwarded-for"] : undefined;
    return plainAddress(forwardedFor === undefined ? peer : trusted.clientAddress(peer, forwardedFor));
  }

  /** Bytes that have come from the client itself on this connection. */
  bytesFromClient(socket: Socket): number {
    return socket.bytesRead - (this.#headerBytes.get(socket) ?? 0);
  }

  /** Reads the header of the PROXY protocol of each connection before the server does anything with it. */
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
    const timer = setTimeout(refuse, HEADER_MS);
    const settle = () => {
      clearTimeout(timer);
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
          this.#tell(socket, address);
        }
        this.#headerBytes.set(socket, header.bytes);
        socket.unshift(bytes.subarray(header.bytes));
        go();
      }
    };
    socket.on("readable", onReadable).on("error", ignoreBecauseCloseFollows).on("close", settle);
  }

  #tell(socket: Socket, address: string): void {
    const ends = endsOf(socket);
    this.#told.set(ends, address);
    socket.once("close", () => this.#told.delete(ends));
  }
}

/** No two connections that are open have the same. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function ignoreBecauseCloseFollows(): void {}
