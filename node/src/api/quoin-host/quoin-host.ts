/** Serves gRPC on node/src/http2: the table of methods, and the start and stop of the host. */
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { type Http2Counters, Http2Server } from "../../http2/index.ts";
import { CLIENT_TLS_VERSION, type ServerTls, type TlsSet } from "../../peers/index.ts";
import { invariant } from "../../primitives/index.ts";
import { type CallPort, type ErrorLog, reportBug, type ServedMethod } from "../calls/index.ts";
import type { ConnectionReports, WarningLog } from "../connections/index.ts";
import { VARYING_FIELDS } from "./answer-fields.ts";
import { ClosureLog } from "./closure-log.ts";
import { HostConnection } from "./host-connection.ts";
import type { Http2Statistics } from "./http2-metrics.ts";
import { type LibraryMethod, type LibraryService, lazyMethod } from "./lazy-service.ts";
import { libraryMethods } from "./library-method.ts";
import { HOST_LIMITS } from "./limits.ts";
import type { OpenMethod, WireMethod } from "./wire-method.ts";

export type ConnectionLog = ErrorLog & WarningLog;

export interface QuoinHostOptions extends CallPort {
  readonly log: ConnectionLog;
  /** Name of the port, for the log. */
  readonly portName: string;
  /** Monotonic clock in milliseconds. */
  readonly monotonicMs: () => number;
  readonly connections: ConnectionReports;
}

/** A method whose request is one message. */
export type HostedMethod = Omit<ServedMethod, "responseCodec">;

export class QuoinHost implements Http2Statistics {
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

  /** Serves methods of the contract. */
  addMethods(methods: readonly HostedMethod[]): void {
    for (const { definition, checks, mayWait, handler } of methods) {
      const { path, requestStream, responseStream, responseSerialize: serialize } = definition;
      invariant(!requestStream, "every method of the contract has one message in its request");
      const calls = this.#options.observer.callsOf({ path, responseStream, mayWait });
      this.#methods.set(path, {
        path,
        requestStream,
        responseStream,
        checks,
        calls,
        serialize,
        handler,
        open: null,
      });
    }
  }

  /**
   * Serves methods that a library implements for grpc-js.
   *
   * @param load returns the services with these methods. It is called once, with the first call of one of them.
   */
  addLibrary(methods: readonly LibraryMethod[], load: () => Promise<readonly LibraryService[]>): void {
    let loading: Promise<ReadonlyMap<string, OpenMethod>> | null = null;
    for (const method of methods) {
      const { path, responseStream } = method;
      const calls = this.#options.observer.callsOf({ path, responseStream, mayWait: responseStream });
      const loadMethod = async (): Promise<OpenMethod> => {
        loading ??= load().then(libraryMethods);
        const loaded = (await loading).get(path);
        invariant(loaded !== undefined, `the library has the method ${path}`);
        return loaded;
      };
      const onError = (error: unknown) => reportBug(error, this.#options.log, path);
      this.#methods.set(path, lazyMethod({ ...method, checks: "none", calls }, loadMethod, onError));
    }
  }

  /** Begins to serve; without `tls`, unencrypted. Call it once, after all methods were added. */
  begin(tls: ServerTls | null): void {
    const server = new Http2Server({
      limits: HOST_LIMITS,
      varyingFields: VARYING_FIELDS,
      tls: tls === null ? null : optionsOf(tls),
      onConnection: (connection, socket) =>
        new HostConnection({
          connection,
          socket,
          port: this.#options,
          methods: this.#methods,
          closeLog: this.#closeLog,
          connections: this.#options.connections,
        }),
    });
    tls?.onChanged((set) => server.useCertificate(contextOf(set)));
    this.#server = server;
  }

  /** Serves a connection. */
  accept(socket: Socket): void {
    this.#server?.accept(socket);
  }

  /** Serves no more connections, lets open calls finish, and ends the remaining ones after `graceMs` milliseconds. */
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
