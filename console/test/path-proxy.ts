/** A proxy that serves a member below a path, as an ingress does. */

import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class PathProxy {
  readonly #server: Server;
  readonly #prefix: string;

  private constructor(server: Server, prefix: string) {
    this.#server = server;
    this.#prefix = prefix;
  }

  /** @param prefix such as `/quoin`; everything else is 404. */
  static async start(target: URL, prefix: string): Promise<PathProxy> {
    const server = createServer((incoming, outgoing) => {
      if (incoming.url?.startsWith(`${prefix}/`) !== true) {
        outgoing.writeHead(404).end();
        return;
      }
      const { method, headers } = incoming;
      const forwarded = request(new URL(incoming.url.slice(prefix.length), target), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      forwarded.once("error", () => outgoing.destroy());
      incoming.pipe(forwarded);
      outgoing.once("close", () => forwarded.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PathProxy(server, prefix);
  }

  /** The address of the member behind the proxy. */
  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#prefix}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
