/** A port on which a spec answers other members with arbitrary bytes, or not at all. */

import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { FrameType } from "../../src/peers/index.ts";
import { frameBytes } from "./raw-peer.ts";

export class RawAcceptor {
  readonly #server: Server;
  readonly sockets: Socket[] = [];
  /** Called with each connection when its first bytes arrive. */
  onHello: (socket: Socket) => void = () => {};

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      this.sockets.push(socket);
      socket.on("error", () => socket.destroy());
      socket.once("data", () => this.onHello(socket));
      socket.resume();
    });
  }

  /** @param options `allowHalfOpen`: connections stay when the other side has ended its half. */
  static async open(options: { readonly allowHalfOpen?: boolean } = {}): Promise<RawAcceptor> {
    const server = createServer(options);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new RawAcceptor(server);
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.sockets) {
      socket.destroy();
    }
  }
}

/** The answer to a Hello: 0 to accept, else the number of a refusal. */
export function answerBytes(code: number, boot = 1): Buffer {
  const body = Buffer.alloc(32);
  body[7] = code;
  if (code === 0) {
    body[15] = 1;
    body[23] = boot;
  }
  return frameBytes(FrameType.Answer, body);
}
