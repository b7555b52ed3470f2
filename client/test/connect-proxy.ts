/** A proxy on the loopback interface that connects every name to one port, and records what it was asked. */

import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** A proxy for CONNECT requests. */
export class ConnectProxy {
  /** The wanted addresses, in the order of the requests. */
  readonly wanted: string[] = [];
  /** The credentials of the last request; undefined = none. */
  authorization: string | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(targetPort: number, status: number) {
    this.#server = createServer((_request, response) => response.writeHead(400).end());
    this.#server.on("connect", (request: IncomingMessage, socket: Socket) => {
      this.wanted.push(request.url ?? "");
      this.authorization = request.headers["proxy-authorization"];
      this.#keep(socket);
      if (status === 0) {
        socket.resume().on("end", () => socket.end());
        return;
      }
      if (status !== 200) {
        socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
        return;
      }
      const other = this.#keep(connect(targetPort, "127.0.0.1"));
      socket.write("HTTP/1.1 200 Connected\r\nVia: spec\r\n\r\n");
      socket.pipe(other).pipe(socket);
    });
  }

  /** @param status of its answers; 200 = it connects, 0 = it does not answer. */
  static async start(targetPort: number, status = 200): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(targetPort, status);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections are open. */
  get open(): number {
    return this.#sockets.size;
  }

  stop(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    return socket.on("error", () => socket.destroy()).on("close", () => this.#sockets.delete(socket));
  }
}
