/**
 * A gRPC port of a member: its addresses, its connections, and its life from listening to stopping. A host serves the
 * calls on the admitted connections.
 */

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server as Listener, type Socket } from "node:net";
import { EVERY_ADDRESS, listenAt, type ServerTls } from "../../peers/index.ts";
import type { ConnectionLimiter } from "../connections/index.ts";
import type { QuoinHost } from "../quoin-host/index.ts";

/**
 * Error codes for an address that this machine does not have, and for an address family that its kernel does not have.
 */
const UNAVAILABLE: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);

export interface GrpcServerOptions {
  readonly host: QuoinHost;
  readonly callAdmission: { stop(): void };
  readonly connectionLimiter: ConnectionLimiter;
}

export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #listeners: Listener[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(options: GrpcServerOptions) {
    this.#options = options;
  }

  /**
   * Begins to serve, on every address of the host name.
   *
   * @param address host:port; host `*` = every address of this machine, port 0 = any free port.
   * @param tls the certificate for clients; null = unencrypted.
   * @returns the port. Rejects if the port is not available.
   */
  async listen(address: string, tls: ServerTls | null): Promise<number> {
    this.#options.host.begin(tls);
    const { hostname, port } = new URL(`tcp://${address}`);
    const hosts = hostname === EVERY_ADDRESS ? [hostname] : await addressesOf(hostname.replace(/^\[|\]$/g, ""));
    let bound = Number(port);
    for (const host of hosts) {
      bound = await this.#listenOn(host, bound).catch((error: NodeJS.ErrnoException) => {
        // A name may have an address of a family that this machine does not have; one usable address is enough.
        if (UNAVAILABLE.has(error.code ?? "") && (this.#listeners.length > 0 || host !== hosts.at(-1))) {
          return bound;
        }
        throw error;
      });
    }
    return bound;
  }

  /**
   * Accepts no more calls, lets open calls finish, and closes the remaining connections after `graceMs` milliseconds.
   */
  async stop(graceMs: number): Promise<void> {
    const closed = this.#listeners.map((listener) => new Promise((resolve) => listener.close(resolve)));
    await this.#options.host.stop(graceMs);
    // A host may not know connections without any data yet, or connections that are closing already.
    const cut = setTimeout(() => {
      for (const socket of this.#sockets) {
        socket.destroy();
      }
    }, graceMs);
    await Promise.all(closed);
    clearTimeout(cut);
    this.#options.callAdmission.stop();
  }

  async #listenOn(host: string, port: number): Promise<number> {
    const listener = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      this.#options.host.accept(socket);
    });
    this.#options.connectionLimiter.guard(listener);
    listenAt(listener, host, port);
    await once(listener, "listening");
    this.#listeners.push(listener);
    return (listener.address() as AddressInfo).port;
  }
}

async function addressesOf(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))];
}
