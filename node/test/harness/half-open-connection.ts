/**
 * A connection that opens gRPC calls and never sends their messages. It writes bytes: a client library would need many
 * times the memory for each call, and would not misbehave.
 *
 * It counts the calls that the server ended, and records whether the server ended the connection.
 */

import { once } from "node:events";
import { connect, type Socket } from "node:net";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FRAME_HEADER_BYTES = 9;
const FrameType = { Data: 0, Headers: 1, RstStream: 3, Settings: 4, Ping: 6, GoAway: 7 } as const;
const Flag = { Ack: 1, EndStream: 1, EndHeaders: 4 } as const;
/** HPACK, RFC 7541 §6.2.2: a literal without indexing, of a new name. */
const LITERAL = 0x00;
const SHORT_LENGTH_MAX = 126;

export interface HalfOpenOptions {
  readonly port: number;
  /** The address of this machine's loopback that the connection comes from. */
  readonly from?: string;
  readonly path: string;
  /** Metadata of every call. */
  readonly metadata?: ReadonlyMap<string, string>;
}

export class HalfOpenConnection {
  readonly #socket: Socket;
  readonly #headers: Buffer;
  #received = Buffer.alloc(0);
  #nextStream = 1;
  /** Calls that the server has ended with a status. */
  answered = 0;
  /** Calls that the server has closed for good. */
  reset = 0;
  #isClosed = false;

  private constructor(socket: Socket, { path, metadata = new Map() }: HalfOpenOptions) {
    this.#socket = socket;
    const headers = new Map([
      [":method", "POST"],
      [":scheme", "http"],
      [":path", path],
      [":authority", "quoin.test"],
      ["content-type", "application/grpc"],
      ["te", "trailers"],
      ...metadata,
    ]);
    this.#headers = Buffer.concat([...headers].map(([name, value]) => literal(name, value)));
    socket.on("data", (bytes: Buffer) => this.#onData(bytes));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.#isClosed = true;
    });
  }

  static async open(options: HalfOpenOptions): Promise<HalfOpenConnection> {
    const { port, from = "127.0.0.1" } = options;
    const socket = connect({ port, host: "127.0.0.1", localAddress: from });
    await once(socket, "connect");
    const connection = new HalfOpenConnection(socket, options);
    socket.write(Buffer.concat([PREFACE, frame(FrameType.Settings, 0, 0)]));
    return connection;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens this many calls. Resolves to the number of the last one when the system has the bytes, or they are lost. */
  async openCalls(count: number): Promise<number> {
    const frames: Buffer[] = [];
    for (let opened = 0; opened < count; opened++) {
      frames.push(frame(FrameType.Headers, Flag.EndHeaders, this.#nextStream, this.#headers));
      this.#nextStream += 2;
    }
    await this.#write(Buffer.concat(frames));
    return this.#nextStream - 2;
  }

  /** Sends bytes of a request on a call. */
  sendData(call: number, bytes: Uint8Array): Promise<void> {
    return this.#write(frame(FrameType.Data, 0, call, bytes));
  }

  /** Stops reading: the server keeps its answers. */
  pause(): void {
    this.#socket.pause();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed) {
        resolve();
      } else {
        this.#socket.once("close", resolve);
        this.#socket.write(bytes, () => {
          this.#socket.off("close", resolve);
          resolve();
        });
      }
    });
  }

  #onData(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= FRAME_HEADER_BYTES) {
      const length = FRAME_HEADER_BYTES + this.#received.readUIntBE(0, 3);
      if (this.#received.length < length) {
        return;
      }
      this.#onFrame(this.#received.subarray(0, length));
      this.#received = this.#received.subarray(length);
    }
  }

  #onFrame(bytes: Buffer): void {
    const [type, flags] = [bytes.readUInt8(3), bytes.readUInt8(4)];
    const isAck = (flags & Flag.Ack) !== 0;
    if (type === FrameType.Settings && !isAck) {
      void this.#write(frame(FrameType.Settings, Flag.Ack, 0));
    } else if (type === FrameType.Ping && !isAck) {
      void this.#write(frame(FrameType.Ping, Flag.Ack, 0, bytes.subarray(FRAME_HEADER_BYTES)));
    } else if (type === FrameType.RstStream) {
      this.reset++;
    } else if (type === FrameType.Headers && (flags & Flag.EndStream) !== 0) {
      this.answered++;
    }
  }
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([LITERAL]), text(name), text(value)]);
}

/** RFC 7541 §5.2, without Huffman coding; the length as a 7-bit prefix integer (§5.1). */
function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  if (bytes.length <= SHORT_LENGTH_MAX) {
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  }
  const length = [0x7f];
  let rest = bytes.length - 0x7f;
  while (rest >= 0x80) {
    length.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}
