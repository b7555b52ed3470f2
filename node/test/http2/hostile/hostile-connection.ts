/**
 * A connection of a hostile client: it sends the bytes of an attack, and counts what comes back. It keeps no frame, so
 * that one process can have thousands of connections. It answers SETTINGS and PING, as a client that wants to stay
 * does.
 */
import { connect, type Socket } from "node:net";
import {
  CLIENT_PREFACE,
  Flag,
  FRAME_HEAD_BYTES,
  FrameType,
  frame,
  RequestEncoder,
  SETTINGS_ACK,
  settings,
} from "../index.ts";

export interface HostileTarget {
  readonly port: number;
  /** The address of this machine's loopback that the connection comes from. */
  readonly from: string;
  readonly settings?: readonly (readonly [id: number, value: number])[];
}

/** Offset of the word of a GOAWAY frame, after the last stream number and the code. */
const GOAWAY_WORD_AT = 8;

export class HostileConnection {
  readonly encoder = new RequestEncoder();
  readonly #socket: Socket;
  #rest = Buffer.alloc(0);
  #nextStreamId = 1;
  /** Streams whose first fields have arrived. */
  readonly answers = new Set<number>();
  /** Streams that the server has reset. */
  resets = 0;
  /** The word of the last GOAWAY frame; "" before there was one. */
  goAway = "";
  isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("error", () => socket.destroy());
    // Writes after the end of the server fail at once: a flood would leave no time for anything else.
    for (const end of ["end", "close"]) {
      socket.on(end, () => {
        this.isClosed = true;
        socket.destroy();
      });
    }
  }

  /** Connects without sending. Also resolves if the server closes the connection at once: see `isClosed`. */
  static async connect({ port, from }: HostileTarget): Promise<HostileConnection> {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from });
    const connection = new HostileConnection(socket);
    await new Promise<void>((resolve) => {
      socket.once("connect", resolve);
      socket.once("close", () => resolve());
    });
    return connection;
  }

  /** Connects, and sends the preface and SETTINGS. */
  static async open(target: HostileTarget): Promise<HostileConnection> {
    const connection = await HostileConnection.connect(target);
    await connection.send(CLIENT_PREFACE, settings(...(target.settings ?? [])));
    return connection;
  }

  /** The next unused stream number. */
  nextStreamId(): number {
    const id = this.#nextStreamId;
    this.#nextStreamId += 2;
    return id;
  }

  /** Resolves when the system has taken the bytes, or when the connection is closed. */
  send(...parts: readonly Uint8Array[]): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) {
        resolve();
        return;
      }
      const done = (error?: Error | null): void => {
        this.isClosed ||= error instanceof Error;
        this.#socket.off("close", done);
        resolve();
      };
      this.#socket.once("close", done);
      this.#socket.write(Buffer.concat(parts), done);
    });
  }

  /** Stops reading: the system keeps what the server sends. */
  pause(): void {
    this.#socket.pause();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (this.#rest.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + this.#rest.readUIntBE(at, 3);
      if (this.#rest.length < end) {
        break;
      }
      this.#onFrame(this.#rest.subarray(at, end));
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
  }

  #onFrame(bytes: Buffer): void {
    const type = bytes.readUInt8(3);
    const isAck = (bytes.readUInt8(4) & Flag.Ack) !== 0;
    const payload = bytes.subarray(FRAME_HEAD_BYTES);
    if (type === FrameType.Settings && !isAck) {
      this.#socket.write(SETTINGS_ACK);
    } else if (type === FrameType.Ping && !isAck) {
      this.#socket.write(frame(FrameType.Ping, Flag.Ack, 0, payload));
    } else if (type === FrameType.Headers) {
      this.answers.add(bytes.readUInt32BE(5));
    } else if (type === FrameType.RstStream) {
      this.resets++;
    } else if (type === FrameType.GoAway) {
      this.goAway = payload.toString("latin1", GOAWAY_WORD_AT);
    }
  }
}
