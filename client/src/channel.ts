/** Connections to members: one gRPC channel per endpoint, encrypted or not, kept alive and reconnected by grpc-js. */

import { Client, credentials } from "@grpc/grpc-js";
import { badField } from "./request-field.ts";

/** How to speak TLS; all in PEM. Used for gRPC and for HTTP. */
export interface TlsOptions {
  /** Authorities to trust instead of the system's. */
  readonly ca?: string | Uint8Array | undefined;
  /** Certificate to show, together with its key. */
  readonly certificate?: string | Uint8Array | undefined;
  /** Private key of the certificate. */
  readonly key?: string | Uint8Array | undefined;
}

/** Settings of each connection. */
export interface ChannelOptions {
  /** Silence after which a connection with calls in flight is probed, in milliseconds. Default 10,000. */
  readonly keepaliveTimeMs?: number | undefined;
  /** How long the answer to a probe may take before the connection counts as lost, in milliseconds. Default 5,000. */
  readonly keepaliveTimeoutMs?: number | undefined;
  /** Largest message to send or receive, in bytes. Default 4 MiB, the limit of the service. */
  readonly maxMessageBytes?: number | undefined;
}

const defaultKeepaliveTimeMs = 10_000;
const defaultKeepaliveTimeoutMs = 5_000;
const defaultMaxMessageBytes = 4 * 1_024 * 1_024;

// A member that restarts is back within seconds: the 120 s that grpc-js may wait otherwise would be an outage of its own.
const firstReconnectMs = 50;
const maxReconnectMs = 1_000;

/**
 * Makes the client of one endpoint. It connects when it is first used.
 *
 * @param tls undefined = not encrypted.
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD when the certificates cannot be read.
 */
export function openChannel(endpoint: string, tls: TlsOptions | undefined, options: ChannelOptions): Client {
  const maxMessageBytes = options.maxMessageBytes ?? defaultMaxMessageBytes;
  return new Client(endpoint, tls === undefined ? credentials.createInsecure() : createTlsCredentials(tls), {
    "grpc.keepalive_time_ms": options.keepaliveTimeMs ?? defaultKeepaliveTimeMs,
    "grpc.keepalive_timeout_ms": options.keepaliveTimeoutMs ?? defaultKeepaliveTimeoutMs,
    "grpc.max_send_message_length": maxMessageBytes,
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.initial_reconnect_backoff_ms": firstReconnectMs,
    "grpc.max_reconnect_backoff_ms": maxReconnectMs,
    // Retries are the SDK's: it must count them, and change the endpoint in between.
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    // Closing a client closes its connections; with the pool of the process they would linger.
    "grpc.use_local_subchannel_pool": 1,
  });
}

function createTlsCredentials(tls: TlsOptions): ReturnType<typeof credentials.createSsl> {
  try {
    return credentials.createSsl(toBuffer(tls.ca), toBuffer(tls.key), toBuffer(tls.certificate));
  } catch (error) {
    // OpenSSL's messages name the problem, and quote nothing of the key.
    throw badField("tls", `cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function toBuffer(pem: string | Uint8Array | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}
