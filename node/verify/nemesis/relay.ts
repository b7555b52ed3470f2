/**
 * Delays the traffic between members, on kernels that cannot. Connections between one member and the others go through
 * this process, which forwards everything late and in order.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Where a relay connects to. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

const DELAY_MS_MIN = 25;
const DELAY_MS_SPREAD = 100;

export class Relay {
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #random: (bound: number) => number;
  #passed = 0;

  constructor(random: (bound: number) => number) {
    this.#random = random;
  }

  /** Number of pieces that were forwarded late so far. */
  get passed(): number {
    return this.#passed;
  }

  /** Listens at an address of this machine, and relays connections to the target. Returns the port. */
  async open(host: string, target: Target): Promise<number> {
    const server = createServer((socket) => this.#lead(socket, target));
    this.#servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, host, resolve);
    });
    const address = server.address();
    if (address === null || typeof address === "string") {
      throw new Error("a relay has no port");
    }
    return address.port;
  }

  /** Ends all connections at once. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #lead(from: Socket, { host, port }: Target): void {
    const to = connect(port, host);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(one);
      // "close" follows an error. When one side ends, the other one is ended too.
      one
        .on("error", () => undefined)
        .once("close", () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      this.#pass(one, other);
    }
  }

  /** Forwards all pieces, each with a delay, and in order. */
  #pass(from: Socket, to: Socket): void {
    let dueMs = 0;
    let last: Promise<void> = Promise.resolve();
    from.on("data", (piece: Buffer) => {
      const now = performance.now();
      dueMs = Math.max(dueMs, now + DELAY_MS_MIN + this.#random(DELAY_MS_SPREAD));
      const waited = sleep(dueMs - now);
      last = last.then(async () => {
        await waited;
        if (!to.destroyed) {
          this.#passed++;
          to.write(piece);
        }
      });
    });
    from.on("end", () => void last.then(() => to.end()));
  }
}
