/**
 * A gRPC server as both ports of a member use it: its limits, its life from listening to stopping.
 *
 * A message above 4 MiB is refused by the library with RESOURCE_EXHAUSTED, before it is read. Clients may send keepalive
 * pings as often as they like; connections on which nobody answers ours are closed.
 */

import { logVerbosity, Server, ServerCredentials, type ServiceDefinition, setLogVerbosity } from "@grpc/grpc-js";
import { rawMethods } from "@quoin/proto";
import type { ServerTls } from "../../peers/index.ts";
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

export class GrpcServer {
  /** For services that are not of the contract. */
  readonly server: Server;
  #address = "";

  /** @param leaderEndpoint host:port of the leader, or null if none is known. */
  constructor(leaderEndpoint: () => string | null, observer: CallObserver) {
    // The library prints metadata that it cannot parse to the console, and so whole tokens.
    setLogVerbosity(logVerbosity.NONE);
    this.server = new Server({
      "grpc.max_receive_message_length": REQUEST_BYTES_MAX,
      "grpc.max_concurrent_streams": CONCURRENT_STREAMS_MAX,
      "grpc.keepalive_time_ms": KEEPALIVE_TIME_MS,
      "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
      // Its counters cost time with each call, and nobody could read them: the service is not registered.
      "grpc.enable_channelz": 0,
      interceptors: [deadlineInterceptor(leaderEndpoint), observer.interceptor],
    });
  }

  /** Registers a service of the contract; its handlers get the bytes of requests. */
  addService<Definition extends ServiceDefinition>(definition: Definition, handlers: Implementation<Definition>): void {
    const methods: ServiceDefinition = rawMethods<ServiceDefinition>(definition);
    this.server.addService(methods, { ...handlers });
  }

  /**
   * Begins to serve.
   *
   * @param address host:port; port 0 = any free one.
   * @param tls what clients are shown; null = plain text.
   * @returns the port. Rejects if it is not to be had.
   */
  listen(address: string, tls: ServerTls | null): Promise<number> {
    return new Promise((resolve, reject) => {
      const credentials = tls === null ? ServerCredentials.createInsecure() : tlsCredentials(tls);
      this.server.bindAsync(address, credentials, (error, port) => {
        if (error !== null) {
          reject(error);
          return;
        }
        this.#address = address.replace(/:\d+$/, `:${port}`);
        resolve(port);
      });
    });
  }

  /** Accepts no more calls, lets those under way finish, and cuts off what is left after `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      // In this order: draining overlooks the connections that are closing already.
      if (this.#address !== "") {
        this.server.drain(this.#address, graceMs);
      }
      this.server.tryShutdown((error) => (error === undefined ? resolve() : reject(error)));
    });
  }
}
