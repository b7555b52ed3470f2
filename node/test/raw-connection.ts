/**
 * A TCP connection on which a spec writes bytes that no HTTP client would send, and reads the raw answer.
 *
 * Waits are by condition: `until` ends when the received text matches or the connection is closed.
 */

import { once } from "node:events";
import { connect, type Socket } from "node:net";

export class RawConnection {
  readonly #socket: Socket;
  #received = "";
  #closed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      this.#received += text;
    });
    socket.on("close", () => {
      this.#closed = true;
    });
    // A server may end a connection by a reset: "close" follows.
    socket.on("error", () => socket.destroy());
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  get received(): string {
    return this.#received;
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(text: string): void {
    this.#socket.write(text, "latin1");
  }

  /** Ends its own side of the connection. */
  end(): void {
    this.#socket.end();
  }

  /** Stops reading: sent data stays in the buffers of the connection, until they are full. */
  pause(): void {
    this.#socket.pause();
  }

  /** Everything received once it matches. Rejects if the connection is closed before. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) {
      if (this.#closed) {
        throw new Error(`the connection was closed after ${JSON.stringify(this.#received)}`);
      }
      await Promise.race([once(this.#socket, "data"), once(this.#socket, "close")]);
    }
    return this.#received;
  }

  /** Everything received once the server has closed the connection. */
  async untilClosed(): Promise<string> {
    if (!this.#closed) {
      await once(this.#socket, "close");
    }
    return this.#received;
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
