/** What serves gRPC on connections that were accepted. Its two implementations should look the same to clients. */
import type { Socket } from "node:net";
import type { ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { ServerTls } from "../../peers/index.ts";
import type { CallHandler } from "./answered-call.ts";

/** Bytes of a request message, without the five bytes that gRPC puts before it. */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
/**
 * As many as a member serves watches (the quota of the contract), and calls beside them: who opens more on one connection
 * must be told so, and not kept waiting.
 */
export const CONCURRENT_STREAMS_MAX = 12_000;
/** A connection that broke without a word is noticed within 40 s. */
export const KEEPALIVE_TIME_MS = 30_000;
export const KEEPALIVE_TIMEOUT_MS = 10_000;

/** The names of the implementations. */
export const GRPC_HOSTS = ["quoin", "grpc-js"] as const;
export type GrpcHostName = (typeof GRPC_HOSTS)[number];
/** The implementation that serves clients unless a flag names the other one. */
export const DEFAULT_GRPC_HOST: GrpcHostName = "quoin";

export interface GrpcHost {
  /** Serves the methods of a definition; requests, and the messages of streams, are bytes (see rawMethods). */
  addService(definition: ServiceDefinition, handlers: Readonly<Record<string, CallHandler<never>>>): void;
  /** Serves methods that a library implements as grpc-js has it: those of health and reflection. */
  addLibraryService(definition: ServiceDefinition, handlers: UntypedServiceImplementation): void;
  /** Begins to serve, without `tls` in plain text. To be called once, after all services were added. */
  begin(tls: ServerTls | null): void;
  /** Serves a connection. */
  accept(socket: Socket): void;
  /** Serves no more connections, lets calls under way finish, and ends what is left after `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void>;
}
