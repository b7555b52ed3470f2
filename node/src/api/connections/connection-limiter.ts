/**
 * Limits the connections of a port.
 *
 * A port has a limit for all connections and one for each remote address. The ports for clients also share a limit of
 * file descriptors, so that clients never take those that the stores need. A connection above a limit is closed at
 * once, before it costs anything. A failed accept is logged and has no other effect.
 *
 * A few addresses cannot keep others out. If a port is full, or no file descriptor is left, a connection of another
 * address takes the place of the newest one of the address that has the most, unless it would then have as many itself.
 *
 * A connection that was cut because its client misbehaved would only be opened again. So for a while its address may
 * open few new ones.
 */

import type { Server, Socket } from "node:net";
import { type Held, Shares } from "../../collections/index.ts";
import { clientOf } from "../../peers/index.ts";
import { counter, gauge, type Metric } from "../../telemetry/index.ts";
import type { ClientLimits } from "./client-limits.ts";
import type { DescriptorBudget } from "./descriptor-budget.ts";
import { SparseLog, type WarningLog } from "./sparse-log.ts";

export interface ConnectionLimiterOptions {
  /** Name of the port, such as grpc. */
  readonly port: string;
  readonly limits: ClientLimits["connections"];
  /** The descriptors that the ports for clients share; null for a port for administrators, which has reserved ones. */
  readonly descriptorBudget: DescriptorBudget | null;
  /**
   * Whether an address belongs to a proxy. A proxy connects for many clients, so the limit of one address does not
   * apply.
   */
  readonly isProxy?: (address: string) => boolean;
  readonly log: WarningLog;
  /** Monotonic clock in milliseconds. */
  readonly monotonicMs: () => number;
}

/** The limit that refused a connection. */
type Refusal = "member" | "address" | "descriptors" | "rate";

/** Minimum time between two log lines about refused connections, in milliseconds. */
const LOG_INTERVAL_MS = 10_000;
/** How long an address stays slow after a connection of it was cut, and the milliseconds between its connections. */
const SLOW_MS = 10_000;
const SLOW_INTERVAL_MS = 100;
/** Slow addresses; if there are more, the one that is slow for longest is forgotten. */
const SLOW_MAX = 10_000;

interface SlowAddress {
  /** On the monotonic clock, in milliseconds. */
  untilMs: number;
  nextMs: number;
}

export class ConnectionLimiter {
  readonly port: string;
  readonly refused: Record<Refusal, number> = { member: 0, address: 0, descriptors: 0, rate: 0 };
  readonly #options: ConnectionLimiterOptions;
  readonly #shares = new Shares<Socket>();
  readonly #slow = new Map<string, SlowAddress>();
  #taken = 0;
  readonly #warnings: SparseLog;

  constructor(options: ConnectionLimiterOptions) {
    this.#options = options;
    this.#warnings = new SparseLog(options.log, LOG_INTERVAL_MS, options.monotonicMs);
    this.port = options.port;
    options.descriptorBudget?.join(this);
  }

  /** Number of open connections. */
  get open(): number {
    return this.#shares.size;
  }

  /** Number of connections that were closed because another address needed their place. */
  get taken(): number {
    return this.#taken;
  }

  /** The number of connections of the address that has the most, without those of proxies. */
  get most(): number {
    return this.#shares.most;
  }

  /** Closes the newest connection of that address for one with this many. Returns false if it has not enough. */
  takeOne(count: number): boolean {
    const held = this.#shares.yieldsTo(count) ? this.#shares.newestOfMost : null;
    if (held === null) {
      return false;
    }
    this.#release(held);
    held.item.destroy();
    this.#taken++;
    this.#log(`${held.share.client} has the most connections`, "a connection was closed for another address");
    return true;
  }

  /** A connection of the client at this address was cut because the client misbehaved. */
  slowDown(remoteAddress: string): void {
    const { isProxy, monotonicMs } = this.#options;
    if (isProxy?.(remoteAddress) === true) {
      return;
    }
    const address = clientOf(remoteAddress);
    const nowMs = monotonicMs();
    const nextMs = this.#slow.get(address)?.nextMs ?? nowMs;
    this.#slow.delete(address);
    this.#slow.set(address, { untilMs: nowMs + SLOW_MS, nextMs });
    const [oldest] = this.#slow.keys();
    if (this.#slow.size > SLOW_MAX && oldest !== undefined) {
      this.#slow.delete(oldest);
    }
  }

  /** Passes only admitted connections to the listeners that the server has now. */
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
      // Before that, the error is the result of listen.
      if (server.listening) {
        this.#log(error.message, "a connection could not be accepted");
      }
    });
  }

  #admit(socket: Socket): boolean {
    const { limits, descriptorBudget, isProxy } = this.#options;
    const address = clientOf(socket.remoteAddress ?? "");
    const isOfProxy = isProxy?.(socket.remoteAddress ?? "") === true;
    if (this.#slow.size > 0 && !isOfProxy && !this.#isDue(address)) {
      return this.#refuse(socket, "rate", `${address} opens connections too fast after one was cut`);
    }
    const ofAddress = this.#shares.countOf(address);
    if (ofAddress >= limits.address && !isOfProxy) {
      return this.#refuse(socket, "address", `${address} has ${limits.address} connections`);
    }
    if (this.open >= limits.member && !this.takeOne(ofAddress)) {
      return this.#refuse(socket, "member", `the port has ${limits.member} connections`);
    }
    if (descriptorBudget?.acquire() === false && !(descriptorBudget.takeOne(ofAddress) && descriptorBudget.acquire())) {
      return this.#refuse(
        socket,
        "descriptors",
        `clients have ${descriptorBudget.max} connections, all that ulimit -n allows`,
      );
    }
    const held = this.#shares.add(address, socket, !isOfProxy);
    socket.once("close", () => this.#release(held));
    return true;
  }

  /** Whether a slow address may open a connection now. */
  #isDue(address: string): boolean {
    const slow = this.#slow.get(address);
    if (slow === undefined) {
      return true;
    }
    const nowMs = this.#options.monotonicMs();
    if (slow.untilMs <= nowMs) {
      this.#slow.delete(address);
      return true;
    }
    if (slow.nextMs > nowMs) {
      return false;
    }
    slow.nextMs = nowMs + SLOW_INTERVAL_MS;
    return true;
  }

  #release(held: Held<Socket>): void {
    if (this.#shares.remove(held)) {
      this.#options.descriptorBudget?.release();
    }
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

export const CONNECTION_METRICS: readonly Metric<readonly ConnectionLimiter[]>[] = [
  gauge({
    name: "quoin_connections",
    help: "Open connections, by port.",
    labels: ["port"],
    read: (gates) => gates.map(({ port, open }) => [[port], open]),
  }),
  counter({
    name: "quoin_connections_taken_total",
    help: "Connections that were closed because their address had the most, and another address needed a place, by port.",
    labels: ["port"],
    read: (gates) => gates.map(({ port, taken }) => [[port], taken]),
  }),
  counter({
    name: "quoin_connections_refused_total",
    help: "Connections that were closed on arrival, by port and by limit: of the member, of one address, of file descriptors, or of the rate after one was cut.",
    labels: ["port", "limit"],
    read: (gates) =>
      gates.flatMap(({ port, refused }) => Object.entries(refused).map(([limit, count]) => [[port, limit], count])),
  }),
];
