/**
 * What clients may use of a member at the same time, with the defaults.
 *
 * A limit has up to three scopes: the whole member, one remote address, and one user. An IPv6 address counts as its
 * network of 64 bits. Each gRPC and HTTP port has its own counts, so clients of one port cannot use up another.
 */

/** Every scope is at least 1. */
export interface ScopedLimit {
  readonly member: number;
  readonly address: number;
  readonly user: number;
}

export interface ClientLimits {
  /** Connections to a port. A connection has no user, so there is no limit per user. */
  readonly connections: Omit<ScopedLimit, "user">;
  /** Open calls of services, except streams. */
  readonly calls: ScopedLimit;
  /** Open streams of services. */
  readonly streams: ScopedLimit;
  /** Calls whose token is not verified yet, and refused calls that the client keeps open. */
  readonly unverifiedCalls: Omit<ScopedLimit, "user">;
  /** gRPC calls that need no token: health and reflection. */
  readonly openCalls: Omit<ScopedLimit, "user">;
  /**
   * Bytes of the requests of calls, from their first byte to the end of the call. The bytes of a compressed message count
   * as they arrive, and again without their compression.
   */
  readonly requestBytes: ScopedLimit;
}

/** Maximum number of connections to a port for clients. */
const CONNECTIONS_MAX = 10_000;
const MEBIBYTE = 1024 * 1024;

/**
 * A call without a message takes about 6 KiB, an idle connection about 60 KiB. So one address can take about 150 MiB of
 * memory for connections and calls, and 128 MiB for messages. A user may have all streams: the quotas of namespaces
 * limit them.
 */
export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  connections: { member: CONNECTIONS_MAX, address: CONNECTIONS_MAX / 4 },
  calls: { member: 20_000, address: 10_000, user: 10_000 },
  streams: { member: 10_000, address: 10_000, user: 10_000 },
  unverifiedCalls: { member: 8_000, address: 2_000 },
  openCalls: { member: 2_000, address: 500 },
  requestBytes: { member: 256 * MEBIBYTE, address: 128 * MEBIBYTE, user: 128 * MEBIBYTE },
};

/** Connections to a port for administrators or health checks; clients do not use it. */
export const ADMINISTRATION_CONNECTIONS: ClientLimits["connections"] = { member: 128, address: 128 };

/**
 * Milliseconds from its headers until the request of a call must be complete, and from its refusal until a call must be
 * closed.
 */
export const REQUEST_MS = 10_000;
