/**
 * A socket on which a test writes frames, right or wrong, and reads those of the server.
 *
 * Waits are by condition: they end when the received frames match, or when the connection is closed.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { CLIENT_PREFACE, SETTINGS_ACK, settings } from "./frames.ts";
import { type ReceivedFrame, ReceivedFrames } from "./received-frames.ts";
import { RequestEncoder } from "./request-encoder.ts";

export class RawClient {
  readonly encoder = new RequestEncoder();
  readonly socket: Socket;
  readonly #received = new ReceivedFrames();
  #isClosed = false;
  /** Called when something has changed. */
  #waiting: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (bytes: Buffer) => {
      this.#received.read(bytes);
      this.#wake();
    });
    socket.on("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
    socket.on("connect", () => this.#wake());
    socket.on("secureConnect", () => this.#wake());
    // A server may end a connection by a reset: "close" follows.
    socket.on("error", () => socket.destroy());
  }

  /** Connects without sending. */
  static async connect(port: number): Promise<RawClient> {
    const client = new RawClient(connect(port, "127.0.0.1"));
    await client.#change();
    return client;
  }

  /** Connects, and sends the preface and SETTINGS. */
  static async open(
    port: number,
    ...clientSettings: readonly (readonly [id: number, value: number])[]
  ): Promise<RawClient> {
    const client = await RawClient.connect(port);
    client.send(CLIENT_PREFACE, settings(...clientSettings), SETTINGS_ACK);
    return client;
  }

  /** The same over TLS; trusts any certificate of the server. */
  static async openTls(port: number, protocols: readonly string[] | null): Promise<RawClient> {
    const socket = connectTls({
      host: "127.0.0.1",
      port,
      rejectUnauthorized: false,
      ...(protocols === null ? {} : { ALPNProtocols: [...protocols] }),
    });
    const client = new RawClient(socket);
    let isSecure = false;
    socket.on("secureConnect", () => {
      isSecure = true;
    });
    while (!isSecure && !client.isClosed) {
      await client.#change();
    }
    client.send(CLIENT_PREFACE, settings(), SETTINGS_ACK);
    return client;
  }

  get frames(): readonly ReceivedFrame[] {
    return this.#received.frames;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(...parts: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(parts));
  }

  /** The first frame for which the predicate returns true. Rejects if the connection is closed without one. */
  async frame(predicate: (frame: ReceivedFrame) => boolean): Promise<ReceivedFrame> {
    for (let at = 0; ; ) {
      for (; at < this.frames.length; at++) {
        const received = this.frames[at] as ReceivedFrame;
        if (predicate(received)) {
          return received;
        }
      }
      if (this.#isClosed) {
        throw new Error(`The connection was closed after ${this.frames.length} frames`);
      }
      await this.#change();
    }
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#isClosed) {
      await this.#change();
    }
  }

  /** Resolves when the socket is connected, has bytes, or is closed. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) {
      resolve();
    }
  }

  destroy(): void {
    this.socket.destroy();
  }
}
