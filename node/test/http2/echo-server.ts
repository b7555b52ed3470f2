/**
 * A server that sends each request back: the messages of gRPC, or the body of any other request. It is the smallest
 * useful layer above the HTTP/2 server, for clients and benchmarks.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { TlsOptions } from "node:tls";
import {
  type CloseResult,
  type ConnectionHandler,
  DEFAULT_HTTP2_LIMITS,
  type Http2Limits,
  Http2Server,
  type ServerConnection,
  type ServerStream,
  type StreamHandler,
} from "../../src/http2/index.ts";

const GRPC_FIELDS: readonly string[] = Object.freeze([":status", "200", "content-type", "application/grpc+proto"]);
const GRPC_TRAILERS: readonly string[] = Object.freeze(["grpc-status", "0"]);
const OTHER_FIELDS: readonly string[] = Object.freeze([":status", "200", "content-type", "text/plain"]);
const OTHER_BODY = Buffer.from("Nothing to repeat.\n");
const NOTHING = Buffer.alloc(0);
const NO_TRAILERS: readonly string[] = Object.freeze([]);

export interface EchoOptions {
  readonly limits?: Partial<Http2Limits>;
  readonly queuedBytesOfAll?: number;
  readonly tls?: TlsOptions | null;
  /** Owners of the connections, in the order of their arrival; each other connection has its own. */
  readonly owners?: readonly string[];
  /** Whether answers wait until `release` is called. */
  readonly holds?: boolean;
  /** Called when a request begins. */
  readonly onRequest?: () => void;
}

export class EchoServer {
  readonly http2: Http2Server;
  /** How connections ended. */
  readonly closures: CloseResult[] = [];
  /** The codes of streams that ended early. */
  readonly resets: number[] = [];
  readonly #listener: Server;
  readonly #holds: boolean;
  readonly #onRequest: () => void;
  readonly #owners: string[];
  #held: (() => void)[] = [];

  private constructor(options: EchoOptions) {
    const { limits = {}, queuedBytesOfAll, tls = null, owners = [], holds = false } = options;
    this.#holds = holds;
    this.#onRequest = options.onRequest ?? (() => undefined);
    this.#owners = [...owners];
    this.http2 = new Http2Server({
      limits: { ...DEFAULT_HTTP2_LIMITS, ...limits },
      ...(queuedBytesOfAll === undefined ? {} : { queuedBytesOfAll }),
      tls,
      onConnection: (connection) => this.#handlerOf(connection),
    });
    this.#listener = createServer((socket) => this.http2.accept(socket));
  }

  /** Listens on a free port of the loopback, or on this one. */
  static async start(options: EchoOptions = {}, port = 0): Promise<EchoServer> {
    const server = new EchoServer(options);
    server.#listener.listen(port, "127.0.0.1");
    await once(server.#listener, "listening");
    return server;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Requests whose answers wait. */
  get heldCount(): number {
    return this.#held.length;
  }

  /** Sends the held answers. */
  release(): void {
    for (const answer of this.#held.splice(0)) {
      answer();
    }
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.http2.close();
  }

  #handlerOf(connection: ServerConnection): ConnectionHandler {
    const owner = this.#owners.shift();
    return {
      ...(owner === undefined ? {} : { owner }),
      onRequest: (_stream, fields) => {
        this.#onRequest();
        return new EchoCall(connection, fields, this);
      },
      onClosed: (closure) => this.closures.push(closure),
    };
  }

  /** Performs an answer, now or later. */
  answer(perform: () => void): void {
    if (this.#holds) {
      this.#held.push(perform);
    } else {
      perform();
    }
  }
}

class EchoCall implements StreamHandler {
  readonly #connection: ServerConnection;
  readonly #isGrpc: boolean;
  readonly #server: EchoServer;
  /** The bytes so far; most requests come in one piece. */
  #body: Uint8Array = NOTHING;
  #parts: Uint8Array[] = [];

  constructor(connection: ServerConnection, fields: readonly string[], server: EchoServer) {
    this.#connection = connection;
    this.#isGrpc = fields.some((text) => text.startsWith("application/grpc"));
    this.#server = server;
  }

  onData(stream: ServerStream, bytes: Uint8Array, from: number, to: number): void {
    const part = new Uint8Array(bytes.subarray(from, to));
    if (this.#body.length === 0) {
      this.#body = part;
    } else {
      this.#parts.push(part);
    }
    this.#connection.consume(stream, to - from);
  }

  onEnd(stream: ServerStream): void {
    if (this.#parts.length > 0) {
      this.#body = Buffer.concat([this.#body, ...this.#parts]);
    }
    this.#server.answer(() => this.#answer(stream));
  }

  onReset(_stream: ServerStream, code: number): void {
    this.#server.resets.push(code);
  }

  onWritable(): void {
    // The connection always takes a whole answer.
  }

  #answer(stream: ServerStream): void {
    if (this.#isGrpc) {
      this.#connection.answer(stream, GRPC_FIELDS, NOTHING, this.#body, GRPC_TRAILERS);
    } else {
      const body = this.#body.length === 0 ? OTHER_BODY : this.#body;
      this.#connection.answer(stream, OTHER_FIELDS, NOTHING, body, NO_TRAILERS);
    }
  }
}
