/**
 * What clients may hold of a member at the same time, with the defaults.
 *
 * A limit has up to three scopes: the whole member, one remote address, and one user. An IPv6 address counts as its
 * network of 64 bits. Each gRPC and HTTP port counts for itself, so clients of one port never close another.
 */

/** 0 is not allowed: every scope is at least 1. */
export interface ScopedLimit {
  readonly member: number;
  readonly address: number;
  readonly user: number;
}

export interface ClientLimits {
  /** Connections to a port; users do not count here: a connection has none. */
  readonly connections: Omit<ScopedLimit, "user">;
  /** Calls of gRPC that are open, streams excepted. */
  readonly calls: ScopedLimit;
  /** Streams of gRPC that are open. */
  readonly streams: ScopedLimit;
  /** Calls of gRPC whose token is not verified, and refused calls that the client keeps open. */
  readonly unverifiedCalls: Omit<ScopedLimit, "user">;
  /** Calls of gRPC that need no token: health and reflection. */
  readonly openCalls: Omit<ScopedLimit, "user">;
  /** Bytes of requests of gRPC, from their first byte to the end of the call. */
  readonly requestBytes: ScopedLimit;
}

/** Connections to a port of clients. */
const CONNECTIONS_MAX = 10_000;
const MEBIBYTE = 1024 * 1024;

/**
 * A call without a message takes some 6 KiB, an idle connection some 60 KiB. So one address can take about 150 MiB of
 * connections and calls, and 128 MiB of messages. A user may hold all streams: quotas of namespaces share them out.
 */
export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  connections: { member: CONNECTIONS_MAX, address: CONNECTIONS_MAX / 4 },
  calls: { member: 20_000, address: 10_000, user: 10_000 },
  streams: { member: 10_000, address: 10_000, user: 10_000 },
  unverifiedCalls: { member: 8_000, address: 2_000 },
  openCalls: { member: 2_000, address: 500 },
  requestBytes: { member: 256 * MEBIBYTE, address: 128 * MEBIBYTE, user: 128 * MEBIBYTE },
};

/** Connections to a port for administrators or health checks, which clients do not share. */
export const ADMINISTRATION_CONNECTIONS: ClientLimits["connections"] = { member: 128, address: 128 };

/** A request of gRPC must be complete so many milliseconds after its headers, and a refused call be closed. */
export const REQUEST_MS = 10_000;
