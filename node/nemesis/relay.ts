/**
 * Delays what members send each other, on kernels that cannot: connections between one member and the others are led
 * through this process, which passes everything on late and in order.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Where a relay listens, and where it leads to. */
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

  /** Pieces that were passed on late so far. */
  get passed(): number {
    return this.#passed;
  }

  /** Listens at an address of this machine for connections that lead to the target; returns the port. */
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
      // An error is followed by "close"; with one side the other has ended, as far as the members can tell.
      one
        .on("error", () => undefined)
        .once("close", () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      this.#pass(one, other);
    }
  }

  /** Passes everything on, each piece some time after it came, and none before the one before it. */
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
