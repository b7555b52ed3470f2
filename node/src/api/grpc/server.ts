/**
 * A gRPC server as both ports of a member use it: its limits, its life from listening to stopping.
 *
 * It listens by itself and hands admitted connections to the library, which would end the process when an accept fails.
 * A message above 4 MiB is refused by the library with RESOURCE_EXHAUSTED, before it is read. Clients may send keepalive
 * pings as often as they like; connections on which nobody answers ours are closed.
 */

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server as Listener, type Socket } from "node:net";
import {
  type ConnectionInjector,
  logVerbosity,
  Server,
  ServerCredentials,
  type ServerInterceptor,
  type ServiceDefinition,
  setLogVerbosity,
} from "@grpc/grpc-js";
import { rawMethods } from "@quoin/proto";
import { EVERY_ADDRESS, listenAt, type ServerTls } from "../../peers/index.ts";
import type { ConnectionGate } from "../connections/index.ts";
import type { CallObserver } from "./call-observer.ts";
import { deadlineInterceptor } from "./deadline-interceptor.ts";
import type { Implementation } from "./implementation.ts";
import { tlsCredentials } from "./tls-credentials.ts";

/** Bytes of a request message, without the five bytes that gRPC puts before it. */
const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
/**
 * As many as a member serves watches (the quota of the contract), and calls beside them: who opens more on one connection
 * must be told so, and not kept waiting.
 */
const CONCURRENT_STREAMS_MAX = 12_000;
/** A connection that broke without a word is noticed within 40 s. */
const KEEPALIVE_TIME_MS = 30_000;
const KEEPALIVE_TIMEOUT_MS = 10_000;
/** Of addresses that this machine does not have, and of those of a family that its kernel does not have. */
const UNAVAILABLE: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);

export interface GrpcServerOptions {
  /** host:port of the leader, or null if none is known. */
  readonly leaderEndpoint: () => string | null;
  readonly observer: CallObserver;
  readonly intake: { readonly interceptor: ServerInterceptor; stop(): void };
  readonly gate: ConnectionGate;
}

export class GrpcServer {
  /** For services that are not of the contract. */
  readonly server: Server;
  readonly #options: GrpcServerOptions;
  readonly #listeners: Listener[] = [];
  readonly #sockets = new Set<Socket>();
  #injector: ConnectionInjector | null = null;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    const { leaderEndpoint, observer, intake } = options;
    // The library prints metadata that it cannot parse to the console, and so whole tokens.
    setLogVerbosity(logVerbosity.NONE);
    this.server = new Server({
      "grpc.max_receive_message_length": REQUEST_BYTES_MAX,
      "grpc.max_concurrent_streams": CONCURRENT_STREAMS_MAX,
      "grpc.keepalive_time_ms": KEEPALIVE_TIME_MS,
      "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
      // Its counters cost time with each call, and nobody could read them: the service is not registered.
      "grpc.enable_channelz": 0,
      interceptors: [deadlineInterceptor(leaderEndpoint), observer.interceptor, intake.interceptor],
    });
  }

  /** Registers a service of the contract; its handlers get the bytes of requests. */
  addService<Definition extends ServiceDefinition>(definition: Definition, handlers: Implementation<Definition>): void {
    const methods: ServiceDefinition = rawMethods<ServiceDefinition>(definition);
    this.server.addService(methods, { ...handlers });
  }

  /**
   * Begins to serve, on every address that the host has.
   *
   * @param address host:port; host `*` = every address of this machine, port 0 = any free one.
   * @param tls what clients are shown; null = plain text.
   * @returns the port. Rejects if it is not to be had.
   */
  async listen(address: string, tls: ServerTls | null): Promise<number> {
    this.#injector = this.server.createConnectionInjector(
      tls === null ? ServerCredentials.createInsecure() : tlsCredentials(tls),
    );
    const { hostname, port } = new URL(`tcp://${address}`);
    const hosts = hostname === EVERY_ADDRESS ? [hostname] : await addressesOf(hostname.replace(/^\[|\]$/g, ""));
    let bound = Number(port);
    for (const host of hosts) {
      bound = await this.#listenOn(host, bound).catch((error: NodeJS.ErrnoException) => {
        // A name may have an address of a kind that this machine does not have; one of them must do.
        if (UNAVAILABLE.has(error.code ?? "") && (this.#listeners.length > 0 || host !== hosts.at(-1))) {
          return bound;
        }
        throw error;
      });
    }
    return bound;
  }

  /** Accepts no more calls, lets those under way finish, and cuts off what is left after `graceMs` milliseconds. */
  async stop(graceMs: number): Promise<void> {
    const closed = this.#listeners.map((listener) => new Promise((resolve) => listener.close(resolve)));
    // In this order: draining overlooks the connections that are closing already.
    this.#injector?.drain(graceMs);
    await new Promise<void>((resolve, reject) => {
      this.server.tryShutdown((error) => (error === undefined ? resolve() : reject(error)));
    });
    // The library waits for no session that is closing already, and knows no connection that has not begun to speak.
    const cut = setTimeout(() => {
      for (const socket of this.#sockets) {
        socket.destroy();
      }
    }, graceMs);
    await Promise.all(closed);
    clearTimeout(cut);
    this.#options.intake.stop();
  }

  async #listenOn(host: string, port: number): Promise<number> {
    const listener = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      this.#injector?.injectConnection(socket);
    });
    this.#options.gate.guard(listener);
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
