/**
 * The connections of one channel that are not established yet, and their end when the channel is closed.
 *
 * grpc-js gives a closing channel no way to end such a connection: it forgets the socket until connecting, or the TLS
 * handshake, has succeeded or failed. With a machine that is gone, that takes minutes, and keeps the process alive. So
 * the addresses of a channel carry a signal for each connection, which grpc-js passes on to `net.connect`, and the
 * credentials report when its TCP part is done. An established connection is never touched: grpc-js closes it when no call
 * is in flight.
 *
 * Through a proxy, the addresses are those of the proxy, which is asked for the connection before the TLS handshake. The
 * proxies of grpc-js have neither a reason for a failure nor an end.
 */

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { type CallCredentials, ChannelCredentials, type ChannelOptions, experimental } from "@grpc/grpc-js";
import { endpointOf } from "./endpoint.ts";
import type { EnvironmentProxy } from "./environment-proxy.ts";
import { openTunnel } from "./proxy-tunnel.ts";

type SecureConnector = ReturnType<ChannelCredentials["_createSecureConnector"]>;
type Resolution = ConstructorParameters<Parameters<typeof experimental.registerResolver>[1]>;
type Target = Resolution[0];

/** Names the resolver below in a target. Unique, because several copies of this package may share one grpc-js. */
const SCHEME = `quoin-${randomUUID()}`;
/** The option that passes the object on to the resolver. */
const OPTION_NAME = `${SCHEME}.dialing`;

/** The connections that a channel opens. */
export class Dialing {
  /** How to end each connection without TCP yet, by its address. */
  readonly #attempts = new Map<string, AbortController>();
  /** The sockets in a TLS handshake. */
  readonly #handshakes = new Set<Socket>();
  readonly #endpoint: string;
  /** Undefined = the connections are direct. */
  readonly #proxy: EnvironmentProxy | undefined;
  #closed = false;

  /** @param endpoint a valid `host:port`. */
  constructor(endpoint: string, proxy: EnvironmentProxy | undefined) {
    this.#endpoint = endpoint;
    this.#proxy = proxy;
  }

  /** The target of the channel. */
  get target(): string {
    return `${SCHEME}:${this.#endpoint}`;
  }

  /** What to look up and to connect to, as `host:port`. */
  get dialed(): string {
    if (this.#proxy === undefined) {
      return this.#endpoint;
    }
    return endpointOf(this.#proxy.host, this.#proxy.port);
  }

  /** The options that the channel needs. */
  get options(): ChannelOptions {
    return { [OPTION_NAME]: this };
  }

  /** The same credentials, which also report the connections. */
  credentials(credentials: ChannelCredentials): ChannelCredentials {
    return new ReportingCredentials(credentials, this);
  }

  /** The same address, with a signal for the next connection to it. */
  withSignal<Address extends object>(address: Address): Address {
    if (!("host" in address && "port" in address)) {
      return address;
    }
    const key = keyOf(address.host, address.port);
    return Object.defineProperty({ ...address }, "signal", { get: () => this.#begin(key), enumerable: true });
  }

  /** Ends everything that is not established, now and in future. */
  close(): void {
    this.#closed = true;
    for (const attempt of this.#attempts.values()) {
      attempt.abort();
    }
    this.#attempts.clear();
    for (const socket of this.#handshakes) {
      socket.destroy();
    }
    this.#handshakes.clear();
  }

  /** Continues a connection, whose TCP part is done, with its handshake. */
  async handshake<Result>(socket: Socket, shake: (socket: Socket) => Promise<Result>): Promise<Result> {
    // A wrongly matched signal could end an established connection. So if none matches, all become void.
    if (!this.#attempts.delete(keyOf(socket.remoteAddress, socket.remotePort))) {
      this.#attempts.clear();
    }
    if (this.#closed) {
      socket.destroy();
    }
    this.#handshakes.add(socket);
    try {
      return await shake(this.#proxy === undefined ? socket : await openTunnel(this.#proxy, this.#endpoint, socket));
    } finally {
      this.#handshakes.delete(socket);
    }
  }

  #begin(key: string): AbortSignal {
    const attempt = new AbortController();
    // Later, because a socket that is destroyed when it begins to connect begins again.
    if (this.#closed) {
      queueMicrotask(() => attempt.abort());
    } else {
      this.#attempts.set(key, attempt);
    }
    return attempt.signal;
  }
}

function keyOf(host: unknown, port: unknown): string {
  return `${host} ${port}`;
}

class ReportingCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials;
  readonly #dialing: Dialing;

  constructor(inner: ChannelCredentials, dialing: Dialing) {
    super();
    this.#inner = inner;
    this.#dialing = dialing;
  }

  override _isSecure(): boolean {
    return this.#inner._isSecure();
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(
    target: Target,
    options: ChannelOptions,
    callCredentials?: CallCredentials,
  ): SecureConnector {
    const inner = this.#inner._createSecureConnector(target, options, callCredentials);
    return {
      connect: (socket) => this.#dialing.handshake(socket, (connected) => inner.connect(connected)),
      waitForReady: () => inner.waitForReady(),
      getCallCredentials: () => inner.getCallCredentials(),
      destroy: () => inner.destroy(),
    };
  }
}

/** Resolves names as grpc-js does by default, and gives the addresses their signals. */
class Resolver {
  readonly #inner: ReturnType<typeof experimental.createResolver>;

  constructor(target: Target, listener: Resolution[1], options: ChannelOptions) {
    const dialing: unknown = options[OPTION_NAME];
    const withSignals: typeof listener = (resolved, ...rest) => {
      if (!resolved.ok || !(dialing instanceof Dialing)) {
        return listener(resolved, ...rest);
      }
      const endpoints = resolved.value.map(({ addresses }) => ({
        addresses: addresses.map((address) => dialing.withSignal(address)),
      }));
      return listener({ ...resolved, value: endpoints }, ...rest);
    };
    const path = dialing instanceof Dialing ? dialing.dialed : target.path;
    this.#inner = experimental.createResolver({ ...target, scheme: "dns", path }, withSignals, options);
  }

  static getDefaultAuthority(target: Target): string {
    return target.path;
  }

  updateResolution(): void {
    this.#inner.updateResolution();
  }

  destroy(): void {
    this.#inner.destroy();
  }
}

experimental.registerResolver(SCHEME, Resolver);
