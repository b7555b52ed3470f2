/** Serves gRPC on node/src/http2: the table of methods, and the start and stop of the host. */
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import type { ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import { type Http2Counters, Http2Server } from "../../http2/index.ts";
import { CLIENT_TLS_VERSION, type ServerTls, type TlsSet } from "../../peers/index.ts";
import { invariant } from "../../primitives/index.ts";
import type { CallPort, ErrorLog, GrpcHost, ServedMethod } from "../calls/index.ts";
import type { WarningLog } from "../connections/index.ts";
import { VARYING_FIELDS } from "./answer-fields.ts";
import { ClosureLog } from "./closure-log.ts";
import { HostConnection } from "./host-connection.ts";
import type { Http2Statistics } from "./http2-metrics.ts";
import { libraryMethod } from "./library-method.ts";
import { HOST_LIMITS } from "./limits.ts";
import type { WireMethod } from "./wire-method.ts";

export type ConnectionLog = ErrorLog & WarningLog;

export interface QuoinHostOptions extends CallPort {
  readonly log: ConnectionLog;
  /** Name of the port, for the log. */
  readonly portName: string;
  /** Monotonic clock in milliseconds. */
  readonly monotonicMs: () => number;
}

export class QuoinHost implements GrpcHost, Http2Statistics {
  readonly #options: QuoinHostOptions;
  readonly #methods = new Map<string, WireMethod>();
  readonly #closeLog: ClosureLog;
  #server: Http2Server | null = null;

  constructor(options: QuoinHostOptions) {
    this.#options = options;
    this.#closeLog = new ClosureLog(options);
  }

  get counters(): Http2Counters | null {
    return this.#server?.counters ?? null;
  }

  addMethods(methods: readonly ServedMethod[]): void {
    for (const { definition, needsToken, mayWait, handler } of methods) {
      const { path, requestStream, responseStream, responseSerialize: serialize } = definition;
      invariant(!requestStream, "every method of the contract has one message in its request");
      const calls = this.#options.observer.callsOf({ path, responseStream, mayWait });
      this.#methods.set(path, {
        ...{ path, requestStream, responseStream, needsToken, calls },
        ...{ serialize, handler, open: null },
      });
    }
  }

  addLibraryService(definition: ServiceDefinition, handlers: UntypedServiceImplementation): void {
    for (const [name, method] of Object.entries(definition)) {
      const handler = handlers[name] ?? handlers[method.originalName ?? name];
      if (handler !== undefined) {
        const { path, responseStream } = method;
        const calls = this.#options.observer.callsOf({ path, responseStream, mayWait: responseStream });
        this.#methods.set(path, libraryMethod(method, handler, calls));
      }
    }
  }

  begin(tls: ServerTls | null): void {
    const server = new Http2Server({
      limits: HOST_LIMITS,
      varyingFields: VARYING_FIELDS,
      tls: tls === null ? null : optionsOf(tls),
      onConnection: (connection, socket) =>
        new HostConnection({
          ...{ connection, socket, port: this.#options, methods: this.#methods },
          ...{ log: this.#options.log, closeLog: this.#closeLog },
        }),
    });
    tls?.onChanged((set) => server.useCertificate(contextOf(set)));
    this.#server = server;
  }

  accept(socket: Socket): void {
    this.#server?.accept(socket);
  }

  async stop(graceMs: number): Promise<void> {
    await this.#server?.drain(graceMs);
  }
}

function optionsOf(tls: ServerTls): TlsOptions {
  const requestCert = tls.needsClientCertificate;
  return { ...contextOf(tls.set), requestCert, rejectUnauthorized: requestCert };
}

function contextOf({ cert, key, ca }: TlsSet) {
  return { cert, key, minVersion: CLIENT_TLS_VERSION, ...(ca === undefined ? {} : { ca }) } as const;
}
