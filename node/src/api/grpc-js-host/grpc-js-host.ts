/**
 * Serves gRPC with the library grpc-js.
 *
 * The library refuses a message above 4 MiB with RESOURCE_EXHAUSTED, before it is read. Clients may send keepalive
 * pings as often as they like. A connection that does not answer our pings is closed.
 */

import { constants, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import {
  type ConnectionInjector,
  logVerbosity,
  type Metadata,
  Server,
  ServerCredentials,
  type ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  setLogVerbosity,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { ServerTls } from "../../peers/index.ts";
import { invariant } from "../../primitives/index.ts";
import {
  type CallHandler,
  type CallMethod,
  type CallPort,
  ClientConnection,
  CONCURRENT_STREAMS_MAX,
  type GrpcHost,
  KEEPALIVE_TIME_MS,
  KEEPALIVE_TIMEOUT_MS,
  REQUEST_BYTES_MAX,
  type ServedMethod,
} from "../calls/index.ts";
import { LibraryCall, streamOf } from "./library-call.ts";
import { tlsCredentials } from "./tls-credentials.ts";

export class GrpcJsHost implements GrpcHost {
  readonly #port: CallPort;
  readonly #server: Server;
  /** The library makes a new object for the method of each call, so each call finds its method here. */
  readonly #methods = new Map<string, CallMethod>();
  readonly #connections = new WeakMap<ServerHttp2Session, ClientConnection>();
  readonly #calls = new WeakMap<Metadata, LibraryCall>();
  #injector: ConnectionInjector | null = null;

  constructor(port: CallPort) {
    this.#port = port;
    // The library prints metadata that it cannot parse to the console, including whole tokens.
    setLogVerbosity(logVerbosity.NONE);
    this.#server = new Server({
      "grpc.max_receive_message_length": REQUEST_BYTES_MAX,
      "grpc.max_concurrent_streams": CONCURRENT_STREAMS_MAX,
      "grpc.keepalive_time_ms": KEEPALIVE_TIME_MS,
      "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
      // Its counters cost time in each call, and no client could read them, because the service is not registered.
      "grpc.enable_channelz": 0,
      interceptors: [this.#interceptor(port)],
    });
  }

  addMethods(methods: readonly ServedMethod[]): void {
    const definitions: Record<string, ServedMethod["definition"]> = {};
    const handlers: UntypedServiceImplementation = {};
    for (const { definition, needsToken, mayWait, handler } of methods) {
      const { path, responseStream } = definition;
      definitions[path] = definition;
      handlers[path] = responseStream ? this.#streamHandler(handler) : this.#unaryHandler(handler);
      this.#addMethod(definition, needsToken, mayWait);
    }
    this.#server.addService(definitions as ServiceDefinition, handlers);
  }

  addLibraryService(definition: ServiceDefinition, handlers: UntypedServiceImplementation): void {
    for (const method of Object.values(definition)) {
      this.#addMethod(method, false, method.responseStream);
    }
    this.#server.addService(definition, handlers);
  }

  begin(tls: ServerTls | null): void {
    this.#injector = this.#server.createConnectionInjector(
      tls === null ? ServerCredentials.createInsecure() : tlsCredentials(tls),
    );
  }

  accept(socket: Socket): void {
    this.#injector?.injectConnection(socket);
  }

  /** The library does not wait for sessions that are closing already, nor for connections without any data yet. */
  async stop(graceMs: number): Promise<void> {
    // In this order: draining ignores connections that are closing already.
    this.#injector?.drain(graceMs);
    await new Promise<void>((resolve, reject) => {
      this.#server.tryShutdown((error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  #addMethod(
    { path, requestStream, responseStream }: Omit<CallMethod, "needsToken" | "calls">,
    needsToken: boolean,
    mayWait: boolean,
  ): void {
    const calls = this.#port.observer.callsOf({ path, responseStream, mayWait });
    this.#methods.set(path, { path, requestStream, responseStream, needsToken, calls });
  }

  #interceptor(port: CallPort): ServerInterceptor {
    const onHeaders = (metadata: Metadata, call: LibraryCall): void => {
      this.#calls.set(metadata, call);
    };
    return ({ path }, call) => {
      const method = this.#methods.get(path);
      invariant(method !== undefined, "the gRPC library passes on only calls of methods that were added");
      const intercepted = call as ServerInterceptingCall;
      const connection = this.#connectionOf(streamOf(intercepted).session as ServerHttp2Session);
      new LibraryCall(port, method, connection, intercepted, onHeaders);
      return intercepted;
    };
  }

  #connectionOf(session: ServerHttp2Session): ClientConnection {
    let connection = this.#connections.get(session);
    if (connection === undefined) {
      connection = new ClientConnection(session.socket.remoteAddress ?? "", () => disconnect(session));
      this.#connections.set(session, connection);
    }
    return connection;
  }

  #unaryHandler(handler: CallHandler<never>): UntypedHandleCall {
    return (call: ServerUnaryCall<Buffer, unknown>, respond: sendUnaryData<unknown>) =>
      handler(this.#callOf(call.metadata).respondBy(respond), call.request);
  }

  #streamHandler(handler: CallHandler<never>): UntypedHandleCall {
    return (call: ServerWritableStream<Buffer, Buffer>) =>
      handler(this.#callOf(call.metadata).streamBy(call), call.request);
  }

  #callOf(metadata: Metadata): LibraryCall {
    const call = this.#calls.get(metadata);
    invariant(call !== undefined, "the gRPC library passes the same metadata to interceptor and handler");
    return call;
  }
}

function disconnect(session: ServerHttp2Session): void {
  if (!session.destroyed) {
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  }
}
