/** Serves gRPC on accepted connections. Its two implementations should look the same to clients. */
import type { Socket } from "node:net";
import type { ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { ServerTls } from "../../peers/index.ts";
import type { ServedMethod } from "./served-method.ts";

/** Maximum bytes of a request message, without the prefix of five bytes that gRPC adds. */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Enough for all watches that a member serves (the quota of the contract) and for other calls. A client that opens more
 * streams on one connection must get a refusal instead of waiting.
 */
export const CONCURRENT_STREAMS_MAX = 12_000;
/** A broken connection is detected within 40 s, the sum of the two. */
export const KEEPALIVE_TIME_MS = 30_000;
export const KEEPALIVE_TIMEOUT_MS = 10_000;

/** The names of the implementations. */
export const GRPC_HOSTS = ["quoin", "grpc-js"] as const;
export type GrpcHostName = (typeof GRPC_HOSTS)[number];
/** The implementation that serves clients unless a flag names the other one. */
export const DEFAULT_GRPC_HOST: GrpcHostName = "quoin";

export interface GrpcHost {
  /** Serves methods of the contract. */
  addMethods(methods: readonly ServedMethod[]): void;
  /** Serves methods that a library implements for grpc-js: the methods of health and reflection. */
  addLibraryService(definition: ServiceDefinition, handlers: UntypedServiceImplementation): void;
  /** Begins to serve; without `tls`, unencrypted. Call it once, after all services were added. */
  begin(tls: ServerTls | null): void;
  /** Serves a connection. */
  accept(socket: Socket): void;
  /** Serves no more connections, lets open calls finish, and ends the remaining ones after `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void>;
}
