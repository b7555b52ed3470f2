/** A connection to the port of a member on which a spec sends arbitrary bytes, and sees everything that comes back. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { crc32 } from "node:zlib";
import { FrameType, type Hello } from "../../src/peers/index.ts";
import { CLUSTER_VERSIONS } from "../../src/state/index.ts";
import { until } from "../harness/index.ts";
import { CLUSTER_ID, incarnationOf, TOKEN } from "./peer-member-double.ts";

/** Header and four numbers. */
const ANSWER_FRAME_BYTES = 12 + 4 * 8;
/** The lower half of the second number of an answer. */
const PROTOCOL_OFFSET = 12 + 8 + 4;

/** A frame, built without the code under test. */
export function frameBytes(type: number, body: Uint8Array): Buffer {
  const bytes = Buffer.alloc(12 + body.length);
  bytes.writeUInt32BE(body.length, 0);
  bytes[4] = type;
  bytes.writeUInt32BE(crc32(body), 8);
  bytes.set(body, 12);
  return bytes;
}

export class RawPeer {
  readonly socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
    });
    // The other side may end the connection by a reset: "close" follows.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.#closed = true;
    });
  }

  /** @param from the local address */
  static async open(port: number, from = "127.0.0.1"): Promise<RawPeer> {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from });
    await once(socket, "connect");
    return new RawPeer(socket);
  }

  /** All received bytes. */
  get received(): Buffer {
    return this.#received;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  send(type: number, body: Uint8Array): void {
    this.socket.write(frameBytes(type, body));
  }

  hello(target: number, changes: Partial<Hello> = {}): void {
    this.send(FrameType.Hello, Buffer.from(JSON.stringify({ magic: "quoin-peer", ...helloTo(target, changes) })));
  }

  /** Waits for the answer to a Hello: 0 if it was accepted, else the number of the refusal. */
  async answer(): Promise<number> {
    await until("the answer to a handshake", () => this.#received.length >= ANSWER_FRAME_BYTES || this.#closed);
    return this.#received.length < ANSWER_FRAME_BYTES ? -1 : this.#received.readUInt32BE(12 + 4);
  }

  /** The version of the peer protocol in the answer to a Hello. */
  async protocol(): Promise<number> {
    await this.answer();
    return this.#received.readUInt32BE(PROTOCOL_OFFSET);
  }

  async untilClosed(): Promise<Buffer> {
    await until("the member to close the connection", () => this.#closed);
    return this.#received;
  }
}

/** A Hello from member 2 that is right in every field. */
export function helloTo(target: number, changes: Partial<Hello> = {}): Hello {
  return {
    protocol: { min: 2, max: 2 },
    kind: "control",
    clusterId: CLUSTER_ID,
    source: {
      memberId: 2,
      incarnation: incarnationOf(2),
      boot: 1,
      damaged: false,
      versions: CLUSTER_VERSIONS,
    },
    target: { memberId: target, incarnation: incarnationOf(target) },
    joinToken: TOKEN,
    dialHint: null,
    ...changes,
  };
}
