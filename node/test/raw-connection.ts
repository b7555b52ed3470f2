/**
 * A TCP connection on which a spec writes what no HTTP client would, and reads what comes back as it is.
 *
 * Waiting is by condition: `until` ends when the text that was received matches or the connection is closed.
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
    // A reset is one of the ways in which a server may end a connection: "close" follows.
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

  /** Sends nothing more, and says so. */
  end(): void {
    this.#socket.end();
  }

  /** Reads nothing more: what the server sends stays in the buffers of the connection, until they are full. */
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
