/**
 * Which connections a port accepts.
 *
 * A port has limits for itself and for each remote address, and the ports of clients share what the process may open:
 * its stores must never find all descriptors taken by clients. A connection above a limit is closed as it comes, before
 * it costs anything. An accept that fails is logged, and ends nothing.
 */

import type { Server, Socket } from "node:net";
import { counter, gauge, type Metric } from "../../telemetry/index.ts";
import { clientOf } from "./client-address.ts";
import type { ClientLimits } from "./client-limits.ts";
import type { DescriptorShare } from "./descriptor-share.ts";
import { SparseLog, type WarningLog } from "./sparse-log.ts";

export interface ConnectionGateOptions {
  /** Name of the port, such as grpc. */
  readonly port: string;
  readonly limits: ClientLimits["connections"];
  /** What the ports of clients share; null for a port of administrators, which has its own part. */
  readonly share: DescriptorShare | null;
  /** Whether an address is that of a proxy, which connects for many clients: the limit of one address is not for it. */
  readonly isProxy?: (address: string) => boolean;
  readonly log: WarningLog;
  /** Milliseconds that only grow. */
  readonly monotonicMs: () => number;
}

/** The limit that a connection met. */
type Refusal = "member" | "address" | "descriptors";

/** The log has a line about refused connections at most this often, in milliseconds. */
const LOG_INTERVAL_MS = 10_000;

export class ConnectionGate {
  readonly port: string;
  readonly refused: Record<Refusal, number> = { member: 0, address: 0, descriptors: 0 };
  readonly #options: ConnectionGateOptions;
  readonly #addresses = new Map<string, number>();
  #open = 0;
  readonly #warnings: SparseLog;

  constructor(options: ConnectionGateOptions) {
    this.#options = options;
    this.#warnings = new SparseLog(options.log, LOG_INTERVAL_MS, options.monotonicMs);
    this.port = options.port;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#open;
  }

  /** Lets only admitted connections through to what listens for connections of the server at this time. */
  guard(server: Server): void {
    const accept = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      if (this.#admit(socket)) {
        for (const listener of accept) {
          listener.call(server, socket);
        }
      }
    });
    server.on("error", (error: NodeJS.ErrnoException) => {
      // An error before that is the answer to listen.
      if (server.listening) {
        this.#log(error.message, "a connection could not be accepted");
      }
    });
  }

  #admit(socket: Socket): boolean {
    const { limits, share, isProxy } = this.#options;
    const address = clientOf(socket.remoteAddress ?? "");
    const ofAddress = this.#addresses.get(address) ?? 0;
    if (ofAddress >= limits.address && isProxy?.(socket.remoteAddress ?? "") !== true) {
      return this.#refuse(socket, "address", `${address} has ${limits.address} connections`);
    }
    if (this.#open >= limits.member) {
      return this.#refuse(socket, "member", `the port has ${limits.member} connections`);
    }
    if (share?.take() === false) {
      return this.#refuse(socket, "descriptors", `clients have ${share.max} connections, all that ulimit -n leaves`);
    }
    this.#open++;
    this.#addresses.set(address, ofAddress + 1);
    socket.once("close", () => {
      this.#open--;
      share?.giveBack();
      const left = (this.#addresses.get(address) ?? 0) - 1;
      if (left > 0) {
        this.#addresses.set(address, left);
      } else {
        this.#addresses.delete(address);
      }
    });
    return true;
  }

  #refuse(socket: Socket, refusal: Refusal, reason: string): false {
    socket.destroy();
    this.refused[refusal]++;
    this.#log(reason, "a connection was refused");
    return false;
  }

  #log(reason: string, message: string): void {
    this.#warnings.warn({ port: this.port, reason }, message);
  }
}

export const CONNECTION_METRICS: readonly Metric<readonly ConnectionGate[]>[] = [
  gauge({
    name: "quoin_connections",
    help: "Connections that are open, by port.",
    labels: ["port"],
    read: (gates) => gates.map(({ port, open }) => [[port], open]),
  }),
  counter({
    name: "quoin_connections_refused_total",
    help: "Connections that were closed as they came, by port and by the limit: of the member, of one address, or of file descriptors.",
    labels: ["port", "limit"],
    read: (gates) =>
      gates.flatMap(({ port, refused }) => Object.entries(refused).map(([limit, count]) => [[port, limit], count])),
  }),
];
