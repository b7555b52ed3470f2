/**
 * Compares what a unary call costs three servers, in microseconds of the server's processor time:
 *
 *     node node/micro/unary-servers.ts --calls 50000 --rounds 3
 *
 * Prints the median of the rounds. It includes what the kernel does for the server's sockets, so that a call alone costs
 * many times what one of many costs. The client is the same for all: a socket and frames that were made before. It keeps so many calls open at a time, and
 * opens the next one for each that is answered.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  CLIENT_PREFACE,
  data,
  Flag,
  FRAME_HEAD_BYTES,
  FrameType,
  GRPC_REQUEST,
  RequestEncoder,
  SETTINGS_ACK,
  settings,
  windowUpdate,
} from "../test/http2/index.ts";
import { UNARY_SERVERS, type UnaryServer } from "./unary-server.ts";

/** Calls that are open at the same time on the connection. */
const CONCURRENCIES: readonly number[] = [1, 16, 64];
/** A message of 100 bytes, behind the five that gRPC puts before it. */
const MESSAGE = Buffer.concat([Buffer.from([0, 0, 0, 0, 100]), Buffer.alloc(100, 0x6d)]);
const WARM_UP_SHARE = 0.25;
/** What gRPC clients send besides the target. */
const FIELDS = [...GRPC_REQUEST, "grpc-timeout", "10S", "grpc-accept-encoding", "identity,deflate,gzip"];
const WIDE_WINDOW = 0x7fff_ffff - 65_535;

class CallingClient {
  readonly #socket: Socket;
  readonly #encoder = new RequestEncoder();
  #rest: Buffer = Buffer.alloc(0);
  #nextId = 1;
  #toOpen = 0;
  #open = 0;
  #onDone: (() => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.write(Buffer.concat([CLIENT_PREFACE, settings(), SETTINGS_ACK, windowUpdate(0, WIDE_WINDOW)]));
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
  }

  static async connect(port: number): Promise<CallingClient> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new CallingClient(socket);
  }

  /** Resolves when so many calls are answered. */
  call(count: number, concurrency: number): Promise<void> {
    this.#toOpen = count;
    this.#openCalls(concurrency);
    return new Promise((resolve) => {
      this.#onDone = resolve;
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #openCalls(count: number): void {
    const frames: Buffer[] = [];
    for (let opened = 0; opened < count && this.#toOpen > 0; opened++) {
      frames.push(this.#encoder.headers(this.#nextId, FIELDS), data(this.#nextId, MESSAGE, Flag.EndStream));
      this.#nextId += 2;
      this.#toOpen--;
      this.#open++;
    }
    if (frames.length > 0) {
      this.#socket.write(Buffer.concat(frames));
    }
  }

  #receive(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    let answered = 0;
    while (this.#rest.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + this.#rest.readUIntBE(at, 3);
      if (this.#rest.length < end) {
        break;
      }
      const type = this.#rest[at + 3];
      const isOfAnswer = type === FrameType.Headers || type === FrameType.Data;
      if (type === FrameType.RstStream || type === FrameType.GoAway) {
        throw new Error("The server has refused a call");
      }
      answered += isOfAnswer && ((this.#rest[at + 4] as number) & Flag.EndStream) !== 0 ? 1 : 0;
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
    this.#open -= answered;
    this.#openCalls(answered);
    if (this.#open === 0) {
      this.#onDone?.();
    }
  }
}

/** The processor time of the server so far, in microseconds. */
async function microsOf(server: ChildProcess): Promise<number> {
  server.send("processor time");
  const [{ micros }] = (await once(server, "message")) as [{ readonly micros: number }];
  return micros;
}

/** Microseconds of the server's processor for each of so many calls. */
async function measure(kind: UnaryServer, calls: number, concurrency: number): Promise<number> {
  const server = fork(join(import.meta.dirname, "unary-server.ts"), [kind]);
  const [{ port }] = (await once(server, "message")) as [{ readonly port: number }];
  const client = await CallingClient.connect(port);
  await client.call(Math.ceil(calls * WARM_UP_SHARE), concurrency);
  const before = await microsOf(server);
  await client.call(calls, concurrency);
  const after = await microsOf(server);
  client.close();
  server.kill();
  await once(server, "exit");
  return (after - before) / calls;
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] as number;
}

const { values } = parseArgs({
  options: { calls: { type: "string", default: "50000" }, rounds: { type: "string", default: "3" } },
});
const measured = new Map<string, number[]>();
// In turns, so that a machine that is busy for a while slows all of them down.
for (let round = 0; round < Number(values.rounds); round++) {
  for (const concurrency of CONCURRENCIES) {
    for (const kind of UNARY_SERVERS) {
      const name = `${kind}, ${concurrency} at a time`;
      measured.set(name, [...(measured.get(name) ?? []), await measure(kind, Number(values.calls), concurrency)]);
    }
  }
}
for (const [name, micros] of measured) {
  const all = micros.map((each) => each.toFixed(1)).join(" ");
  console.log(`${name.padEnd(28)} ${medianOf(micros).toFixed(1).padStart(7)} µs   of ${all}`);
}
