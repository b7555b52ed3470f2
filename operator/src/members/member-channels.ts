/** Connections to members' admin ports. They are kept from pass to pass, and closed when idle. */
import { createHash } from "node:crypto";
import { Client, credentials } from "@grpc/grpc-js";

const IDLE_MS = 60_000;
/** A starting pod does not answer at first; the next pass is seconds away. */
const RECONNECT_MS_MAX = 1_000;

/** Address and credentials of a member. */
export interface MemberAddress {
  /** host:port. The pod's IP address, because DNS does not know new pods everywhere yet. */
  readonly endpoint: string;
  /** The name that its certificate must have. */
  readonly serverName: string;
  /** Trusted authorities, in PEM; null = unencrypted. */
  readonly authorities: string | null;
  /** The operator's token. */
  readonly token: string;
}

interface Channel {
  readonly client: Client;
  usedMs: number;
}

export class MemberChannels {
  readonly #channels = new Map<string, Channel>();

  /** @returns a client for calls, which stays open for a while */
  open(member: MemberAddress): Client {
    this.#sweep();
    const key = keyOf(member);
    const channel = this.#channels.get(key) ?? { client: connect(member), usedMs: 0 };
    channel.usedMs = performance.now();
    this.#channels.set(key, channel);
    return channel.client;
  }

  /** Closes the connection to a member; the next call dials again. */
  drop(member: MemberAddress): void {
    const key = keyOf(member);
    this.#channels.get(key)?.client.close();
    this.#channels.delete(key);
  }

  close(): void {
    for (const { client } of this.#channels.values()) {
      client.close();
    }
    this.#channels.clear();
  }

  #sweep(): void {
    const oldest = performance.now() - IDLE_MS;
    for (const [key, { client, usedMs }] of this.#channels) {
      if (usedMs < oldest) {
        client.close();
        this.#channels.delete(key);
      }
    }
  }
}

function keyOf({ endpoint, serverName, authorities }: MemberAddress): string {
  return `${endpoint} ${serverName} ${createHash("sha256")
    .update(authorities ?? "")
    .digest("hex")}`;
}

function connect({ endpoint, serverName, authorities }: MemberAddress): Client {
  const security =
    authorities === null ? credentials.createInsecure() : credentials.createSsl(Buffer.from(authorities), null, null);
  return new Client(endpoint, security, {
    // Dials an IP address, but verifies the member's name.
    ...(authorities === null ? {} : { "grpc.ssl_target_name_override": serverName }),
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": RECONNECT_MS_MAX,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
  });
}
