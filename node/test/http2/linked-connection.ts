/**
 * A ServerConnection in a test's own process: the test is the client, the handler and the clock.
 *
 * All bytes of the client go through one buffer, which is overwritten after each call. A view that the server keeps
 * instead of a copy is wrong from then on.
 */
import {
  BufferPool,
  type CloseResult,
  type ConnectionHandler,
  createCounters,
  DEFAULT_HTTP2_LIMITS,
  type Http2Counters,
  type Http2Limits,
  QueuedBytes,
  ServerConnection,
  type ServerStream,
  type StreamHandler,
} from "../../src/http2/index.ts";
import { CLIENT_PREFACE, SETTINGS_ACK, settings } from "./frames.ts";
import { type ReceivedFrame, ReceivedFrames } from "./received-frames.ts";
import { RequestEncoder } from "./request-encoder.ts";

const RECEIVE_BYTES = 64 * 1024;
const OVERWRITTEN = 0xa5;

/** A call of the handler. */
export type HandlerCall =
  | { readonly call: "request"; readonly id: number; readonly fields: readonly string[] }
  | { readonly call: "data"; readonly id: number; readonly bytes: string }
  | { readonly call: "end"; readonly id: number; readonly trailers: readonly string[] }
  | { readonly call: "reset"; readonly id: number; readonly code: number }
  | { readonly call: "writable"; readonly id: number }
  | { readonly call: "closed"; readonly closure: CloseResult };

export interface LinkOptions {
  readonly limits?: Partial<Http2Limits>;
  /** Whether the handler consumes bytes when they arrive; true by default. */
  readonly consumes?: boolean;
  /** Called in a call of the handler, after it was recorded. */
  readonly onCall?: (call: HandlerCall, link: LinkedConnection) => void;
  /** Largest number of bytes in one input. */
  readonly cutBytes?: number;
}

export class LinkedConnection {
  readonly connection: ServerConnection;
  readonly counters: Http2Counters = createCounters();
  readonly pool = new BufferPool();
  readonly queuedOfAll = new QueuedBytes(Infinity, () => undefined);
  readonly encoder = new RequestEncoder();
  readonly calls: HandlerCall[] = [];
  /** All streams that the handler has seen. */
  readonly streams = new Map<number, ServerStream>();
  readonly received = new ReceivedFrames();
  nowMs = 1_000;
  /** How often the connection reported that it has output. */
  outputs = 0;
  readonly #options: LinkOptions;
  readonly #buffer = Buffer.alloc(RECEIVE_BYTES);

  constructor(options: LinkOptions = {}) {
    this.#options = options;
    this.connection = new ServerConnection({
      limits: { ...DEFAULT_HTTP2_LIMITS, ...options.limits },
      counters: this.counters,
      pool: this.pool,
      queuedOfAll: this.queuedOfAll,
      nowMs: this.nowMs,
      varyingFields: new Set(["grpc-message"]),
      onOutput: () => {
        this.outputs++;
      },
      handlerOf: (connection) => this.#handlerOf(connection),
    });
  }

  /** A connection whose client has sent its preface and SETTINGS, and has read those of the server. */
  static established(
    options: LinkOptions = {},
    ...clientSettings: readonly (readonly [id: number, value: number])[]
  ): LinkedConnection {
    const link = new LinkedConnection(options);
    link.send(CLIENT_PREFACE, settings(...clientSettings), SETTINGS_ACK);
    link.take();
    return link;
  }

  /** The client sends bytes. */
  send(...parts: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(parts);
    const cutBytes = Math.min(this.#options.cutBytes ?? RECEIVE_BYTES, RECEIVE_BYTES);
    for (let at = 0; at < bytes.length; at += cutBytes) {
      const length = bytes.copy(this.#buffer, 0, at, at + cutBytes);
      this.connection.receive(this.#buffer, 0, length, this.nowMs);
      this.#buffer.fill(OVERWRITTEN, 0, length);
    }
  }

  /** The client sends one HEADERS frame. */
  request(streamId: number, fields: readonly string[], flags = 0): void {
    this.send(this.encoder.headers(streamId, fields, flags));
  }

  /** The socket writes all output. Returns its frames. */
  take(): ReceivedFrame[] {
    const before = this.received.frames.length;
    for (let bytes = this.connection.takeOutput(); bytes !== null; bytes = this.connection.takeOutput()) {
      this.received.read(bytes);
      this.connection.written();
    }
    return this.received.frames.slice(before);
  }

  /** Time passes, in steps of a second. */
  pass(ms: number): void {
    for (const end = this.nowMs + ms; this.nowMs < end; ) {
      this.nowMs = Math.min(end, this.nowMs + 1_000);
      this.connection.tick(this.nowMs);
    }
  }

  stream(id: number): ServerStream {
    const stream = this.streams.get(id);
    if (stream === undefined) {
      throw new Error(`The handler has not seen stream ${id}`);
    }
    return stream;
  }

  /** The calls of this kind. */
  callsOf<Kind extends HandlerCall["call"]>(kind: Kind): Extract<HandlerCall, { readonly call: Kind }>[] {
    return this.calls.filter((each): each is Extract<HandlerCall, { readonly call: Kind }> => each.call === kind);
  }

  #record(call: HandlerCall): void {
    this.calls.push(call);
    this.#options.onCall?.(call, this);
  }

  #handlerOf(connection: ServerConnection): ConnectionHandler {
    const ofStream: StreamHandler = {
      onData: (stream, bytes, from, to) => {
        const text = Buffer.from(bytes.subarray(from, to)).toString("latin1");
        if (this.#options.consumes ?? true) {
          connection.consume(stream, to - from);
        }
        this.#record({ call: "data", id: stream.id, bytes: text });
      },
      onEnd: (stream, trailers) => this.#record({ call: "end", id: stream.id, trailers }),
      onReset: (stream, code) => this.#record({ call: "reset", id: stream.id, code }),
      onWritable: (stream) => this.#record({ call: "writable", id: stream.id }),
    };
    return {
      onRequest: (stream, fields) => {
        this.streams.set(stream.id, stream);
        this.#record({ call: "request", id: stream.id, fields });
        return ofStream;
      },
      onClosed: (closure) => this.#record({ call: "closed", closure }),
    };
  }
}
