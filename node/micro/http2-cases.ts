/**
 * A unary call through the HTTP/2 room, with its fields, its message and its trailers, and without a socket: the frames of
 * the client go in, those of the answer come out. The message of the answer is that of the request.
 */
import {
  BufferPool,
  createCounters,
  DEFAULT_HTTP2_LIMITS,
  QueuedBytes,
  ServerConnection,
  type ServerStream,
  type StreamHandler,
} from "../src/http2/index.ts";
import {
  CLIENT_PREFACE,
  data,
  Flag,
  GRPC_REQUEST,
  RequestEncoder,
  SETTINGS_ACK,
  settings,
  windowUpdate,
} from "../test/http2/index.ts";
import type { MicroCase } from "./measurement.ts";

const SHORT_ROUND_CALLS = 192;
/** Calls that arrive together: alone, and under load. */
const TURNS: readonly number[] = [1, 64];
const MESSAGE = Buffer.alloc(105, 0x6d);
const FIELDS = Object.freeze([":status", "200", "content-type", "application/grpc+proto"]);
const TRAILERS = Object.freeze(["grpc-status", "0"]);
/** What opens the window of the client for all answers of a round. */
const WIDE_WINDOW = 0x7fff_ffff - 65_535;
const NOTHING = new Uint8Array(0);

export function http2Cases(): readonly MicroCase[] {
  return TURNS.map((calls) => ({
    name: `a unary call in HTTP/2, ${calls === 1 ? "alone" : `${calls} in a turn`}`,
    roundMultiple: SHORT_ROUND_CALLS,
    shortRoundOperations: SHORT_ROUND_CALLS,
    prepare: (count) => {
      const connection = connect();
      const turns = turnsOf(count, calls);
      return () => {
        for (const bytes of turns) {
          connection.receive(bytes, 0, bytes.length, 0);
          connection.takeOutput();
          connection.written();
        }
      };
    },
  }));
}

/** What the client sends for so many calls, in pieces with so many calls each. */
function turnsOf(count: number, calls: number): readonly Buffer[] {
  const encoder = new RequestEncoder();
  const turns: Buffer[] = [];
  for (let call = 0; call < count; call += calls) {
    const frames = Array.from({ length: calls }, (_, at) => {
      const id = 2 * (call + at) + 1;
      return [encoder.headers(id, GRPC_REQUEST), data(id, MESSAGE, Flag.EndStream)];
    });
    turns.push(Buffer.concat(frames.flat()));
  }
  return turns;
}

/** A connection whose client has said what it begins with. */
function connect(): ServerConnection {
  const connection = new ServerConnection({
    limits: DEFAULT_HTTP2_LIMITS,
    counters: createCounters(),
    pool: new BufferPool(),
    queuedOfAll: new QueuedBytes(Infinity, () => undefined),
    nowMs: 0,
    varyingFields: new Set(),
    onOutput: () => undefined,
    handlerOf: (own) => ({ onRequest: () => new Echo(own), onClosed: () => undefined }),
  });
  const beginning = Buffer.concat([CLIENT_PREFACE, settings(), SETTINGS_ACK, windowUpdate(0, WIDE_WINDOW)]);
  connection.receive(beginning, 0, beginning.length, 0);
  return connection;
}

class Echo implements StreamHandler {
  readonly #connection: ServerConnection;
  #message: Uint8Array = NOTHING;

  constructor(connection: ServerConnection) {
    this.#connection = connection;
  }

  onData(stream: ServerStream, bytes: Uint8Array, from: number, to: number): void {
    this.#message = new Uint8Array(bytes.subarray(from, to));
    this.#connection.consume(stream, to - from);
  }

  onEnd(stream: ServerStream): void {
    this.#connection.answer(stream, FIELDS, NOTHING, this.#message, TRAILERS);
  }

  onReset(): void {
    throw new Error("No call of this benchmark is reset");
  }

  onWritable(): void {
    throw new Error("No write of this benchmark waits");
  }
}
