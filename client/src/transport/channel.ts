/**
 * Connections to members: one gRPC channel for each endpoint, encrypted or not, kept alive and reconnected by grpc-js.
 */

import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import { ChannelCredentials, Client, type ClientOptions, credentials, type VerifyOptions } from "@grpc/grpc-js";
import { record, timeout, whole } from "../options/index.ts";
import { Dialing } from "./dialing.ts";
import { hostOf } from "./endpoint.ts";
import { proxyFor } from "./environment-proxy.ts";
import type { Tls, TlsContents } from "./tls.ts";

/** Settings of each connection. */
export interface ChannelOptions {
  /** After this much silence, a connection with calls in flight is probed, in milliseconds. Default 10,000. */
  readonly keepaliveTimeMs?: number | undefined;
  /** How long a probe may remain unanswered before the connection counts as lost, in milliseconds. Default 5,000. */
  readonly keepaliveTimeoutMs?: number | undefined;
  /**
   * Largest message to send or receive, in bytes. Default: 4 MiB to send, the limit of the service, and 16 MiB to
   * receive, because one event of a log may have 10 MiB.
   */
  readonly maxMessageBytes?: number | undefined;
}

/** The rule of these settings. */
export const channelRule = record<ChannelOptions>(
  { keepaliveTimeMs: timeout, keepaliveTimeoutMs: timeout, maxMessageBytes: whole },
  [],
);

const DEFAULT_KEEPALIVE_TIME_MS = 10_000;
const DEFAULT_KEEPALIVE_TIMEOUT_MS = 5_000;
const DEFAULT_SENT_BYTES_MAX = 4 * 1_024 * 1_024;
const DEFAULT_RECEIVED_BYTES_MAX = 16 * 1_024 * 1_024;

// A restarting member is back within seconds. The 120 s that grpc-js may wait by default would be a further outage.
const FIRST_RECONNECT_MS = 50;
const RECONNECT_MS_MAX = 1_000;
/** An address may belong to a deleted pod: resolve the names again as soon as connecting fails. */
const RESOLUTION_PAUSE_MS_MIN = 1_000;

/** A name that no server has: `.invalid` is reserved (RFC 2606 §2). */
const PLACEHOLDER_NAME = "address.invalid";

/**
 * Creates the client of one endpoint. It connects on first use.
 *
 * @param endpoint a valid `host:port`.
 * @param tls undefined = not encrypted.
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD if the environment names no usable proxy.
 */
export function openChannel(endpoint: string, tls: Tls | undefined, options: ChannelOptions): Client {
  const security =
    tls === undefined ? { credentials: credentials.createInsecure(), options: {} } : tlsSettings(endpoint, tls);
  const dialing = new Dialing(endpoint, proxyFor(endpoint));
  return new EndingClient(dialing, security.credentials, {
    ...security.options,
    ...dialing.options,
    "grpc.keepalive_time_ms": options.keepaliveTimeMs ?? DEFAULT_KEEPALIVE_TIME_MS,
    "grpc.keepalive_timeout_ms": options.keepaliveTimeoutMs ?? DEFAULT_KEEPALIVE_TIMEOUT_MS,
    "grpc.max_send_message_length": options.maxMessageBytes ?? DEFAULT_SENT_BYTES_MAX,
    "grpc.max_receive_message_length": options.maxMessageBytes ?? DEFAULT_RECEIVED_BYTES_MAX,
    "grpc.initial_reconnect_backoff_ms": FIRST_RECONNECT_MS,
    "grpc.max_reconnect_backoff_ms": RECONNECT_MS_MAX,
    "grpc.dns_min_time_between_resolutions_ms": RESOLUTION_PAUSE_MS_MIN,
    // The SDK itself retries: it must count the attempts, and change the endpoint between them.
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    // The dialing uses the proxy of the environment.
    "grpc.enable_http_proxy": 0,
    // Closing a client closes its connections; in the pool of the process they would linger.
    "grpc.use_local_subchannel_pool": 1,
  });
}

/** A client whose connections that are not established yet end when it is closed. */
class EndingClient extends Client {
  readonly #dialing: Dialing;

  constructor(dialing: Dialing, security: ChannelCredentials, options: ClientOptions) {
    super(dialing.target, dialing.credentials(security), options);
    this.#dialing = dialing;
  }

  override close(): void {
    super.close();
    this.#dialing.close();
  }
}

/**
 * An IP address instead of a name needs special handling: grpc-js sends it to the server as a name, which Node refuses
 * (RFC 6066 §3). So the client sends a meaningless name, and still checks the certificate against the address.
 */
function tlsSettings(endpoint: string, tls: Tls): { credentials: ChannelCredentials; options: ClientOptions } {
  const host = hostOf(endpoint);
  if (isIP(host) === 0) {
    return { credentials: new CurrentCredentials(tls, {}), options: {} };
  }
  const verify: VerifyOptions = { checkServerIdentity: (_name, shown) => checkServerIdentity(host, shown) };
  return {
    credentials: new CurrentCredentials(tls, verify),
    options: { "grpc.ssl_target_name_override": PLACEHOLDER_NAME },
  };
}

type Connector = ReturnType<ChannelCredentials["_createSecureConnector"]>;

/** Credentials for which each connection gets the certificates and the key as they are then. */
class CurrentCredentials extends ChannelCredentials {
  readonly #tls: Tls;
  readonly #verify: VerifyOptions;
  #used: TlsContents | undefined;
  #credentials: ChannelCredentials | undefined;

  constructor(tls: Tls, verify: VerifyOptions) {
    super();
    this.#tls = tls;
    this.#verify = verify;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(...args: Parameters<ChannelCredentials["_createSecureConnector"]>): Connector {
    let made = this.#current();
    let connector = made._createSecureConnector(...args);
    return {
      connect: (socket) => {
        const current = this.#current();
        if (current !== made) {
          made = current;
          connector = made._createSecureConnector(...args);
        }
        return connector.connect(socket);
      },
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  }

  #current(): ChannelCredentials {
    const now = this.#tls.current();
    if (this.#credentials === undefined || now !== this.#used) {
      this.#used = now;
      const { ca = null, cert = null, key = null } = now;
      this.#credentials = credentials.createSsl(ca, key, cert, this.#verify);
    }
    return this.#credentials;
  }
}
