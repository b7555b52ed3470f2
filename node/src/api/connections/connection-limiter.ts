/**
 * Limits the connections of a port.
 *
 * A port has a limit for all connections and one for each remote address. The ports for clients also share a limit of
 * file descriptors, so that clients never take those that the stores need. A connection above a limit is closed at
 * once, before it costs anything. A failed accept is logged and has no other effect.
 *
 * A few addresses cannot keep others out. If a port is full, or no file descriptor is left, a connection of another
 * address takes the place of one of the address that has the most, unless it would then have as many itself.
 *
 * Nor can one user keep out others of its address. A part of what an address may have is for connections that have not
 * shown a good token yet. If the address is full, the oldest of these makes room for a new one. If too many have shown
 * one, the user with the most connections loses the newest.
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
/** New connections take this much of a turn of the event loop, in milliseconds. The others wait for the next turn. */
const SLICE_MS = 4;
/** Slow addresses; if there are more, the one that is slow for longest is forgotten. */
const SLOW_MAX = 10_000;

/** Connections that have shown no good token are of this user. */
const UNVERIFIED = "";
/** This part of what an address may have is for connections that have shown no good token. */
const UNVERIFIED_PART = 16;
/** An address that is full gets new connections not faster than this, in milliseconds: each costs more than a refusal. */
const REPLACE_INTERVAL_MS = 10;

/** An open connection. */
class Connection {
  readonly socket: Socket;
  readonly ends: string;
  /** Its place among those of all addresses. */
  ofAddress: Held<Connection> | null = null;
  /** Its place among those of its address; null for a connection of a proxy, which has many users. */
  ofUser: Held<Connection> | null = null;

  constructor(socket: Socket) {
    this.socket = socket;
    this.ends = endsOf(socket);
  }
}

/** The connections of one address, by user. */
class AddressUsers extends Shares<Connection> {
  /** When the next connection may take the place of an unverified one, on the monotonic clock. */
  nextMs = 0;
}

interface SlowAddress {
  /** On the monotonic clock, in milliseconds. */
  untilMs: number;
  nextMs: number;
}

/** What those who serve connections tell of them. */
export type ConnectionReports = Pick<ConnectionLimiter, "slowDown" | "verified">;

export class ConnectionLimiter {
  readonly port: string;
  readonly refused: Record<Refusal, number> = { member: 0, address: 0, descriptors: 0, rate: 0 };
  readonly #options: ConnectionLimiterOptions;
  readonly #shares = new Shares<Connection>();
  readonly #users = new Map<string, AddressUsers>();
  /** By their two ends. The socket cannot be the key: with TLS, those who serve the connection have another one. */
  readonly #open = new Map<string, Connection>();
  readonly #slow = new Map<string, SlowAddress>();
  #taken = 0;
  /** Admitted connections that wait to be served, of all servers. */
  readonly #arrived: (() => void)[] = [];
  /** When this turn has served connections for long enough; null = it has served none. */
  #sliceEndMs: number | null = null;
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

  /** Number of connections that were closed because another address or user needed their place. */
  get taken(): number {
    return this.#taken;
  }

  /** The number of connections of the address that has the most, without those of proxies. */
  get most(): number {
    return this.#shares.most;
  }

  /** Closes a connection of that address for one with this many. Returns false if it has not enough. */
  takeOne(count: number): boolean {
    const held = this.#shares.yieldsTo(count) ? this.#shares.newestOfMost : null;
    if (held === null) {
      return false;
    }
    const { client } = held.share;
    const users = this.#users.get(client);
    this.#take((users?.oldestOf(UNVERIFIED) ?? users?.newestOfMost ?? held).item);
    this.#log(`${client} has the most connections`, "a connection was closed for another address");
    return true;
  }

  /** The client of this connection has shown a good token of the user. */
  verified(socket: Socket, user: string): void {
    const connection = this.#open.get(endsOf(socket));
    const address = connection?.ofAddress?.share.client ?? "";
    const users = this.#users.get(address);
    if (connection?.ofUser?.share.client !== UNVERIFIED || users === undefined) {
      return;
    }
    users.remove(connection.ofUser);
    connection.ofUser = users.add(user, connection);
    const limit = this.#options.limits.address;
    const isTooMany = users.size - users.countOf(UNVERIFIED) > limit - Math.floor(limit / UNVERIFIED_PART);
    if (isTooMany && users.newestOfMost !== null) {
      const { item, share } = users.newestOfMost;
      this.#take(item);
      this.#log(`${share.client} has the most connections of ${address}`, "a connection was closed for another user");
    }
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
        this.#arrived.push(() => {
          for (const listener of socket.destroyed ? [] : accept) {
            listener.call(server, socket);
          }
        });
        this.#serve();
      }
    });
    server.on("error", (error: NodeJS.ErrnoException) => {
      // Before that, the error is the result of listen.
      if (server.listening) {
        this.#log(error.message, "a connection could not be accepted");
      }
    });
  }

  /** Serves those that have arrived, as long as this turn has time for them. */
  #serve(): void {
    const { monotonicMs } = this.#options;
    if (this.#sliceEndMs === null) {
      this.#sliceEndMs = monotonicMs() + SLICE_MS;
      setImmediate(() => {
        this.#sliceEndMs = null;
        if (this.#arrived.length > 0) {
          this.#serve();
        }
      });
    }
    let served = 0;
    while (served < this.#arrived.length && monotonicMs() < this.#sliceEndMs) {
      this.#arrived[served]?.();
      served++;
    }
    this.#arrived.splice(0, served);
  }

  #admit(socket: Socket): boolean {
    const { limits, descriptorBudget, isProxy } = this.#options;
    const address = clientOf(socket.remoteAddress ?? "");
    const isOfProxy = isProxy?.(socket.remoteAddress ?? "") === true;
    if (this.#slow.size > 0 && !isOfProxy && !this.#isDue(address)) {
      return this.#refuse(socket, "rate", `${address} opens connections too fast after one was cut`);
    }
    if (this.#shares.countOf(address) >= limits.address && !isOfProxy && !this.#makeRoomAt(address)) {
      return this.#refuse(socket, "address", `${address} has ${limits.address} connections`);
    }
    const ofAddress = this.#shares.countOf(address);
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
    this.#add(socket, address, isOfProxy);
    return true;
  }

  #add(socket: Socket, address: string, isOfProxy: boolean): void {
    const connection = new Connection(socket);
    connection.ofAddress = this.#shares.add(address, connection, !isOfProxy);
    if (!isOfProxy) {
      const users = this.#users.get(address) ?? new AddressUsers();
      this.#users.set(address, users);
      connection.ofUser = users.add(UNVERIFIED, connection, false);
    }
    this.#open.set(connection.ends, connection);
    socket.once("close", () => this.#release(connection));
  }

  /** Closes the oldest unverified connection of a full address. Returns false if there is none, or if it is too early. */
  #makeRoomAt(address: string): boolean {
    const users = this.#users.get(address);
    const oldest = users?.oldestOf(UNVERIFIED) ?? null;
    const nowMs = this.#options.monotonicMs();
    if (users === undefined || oldest === null || users.nextMs > nowMs) {
      return false;
    }
    users.nextMs = nowMs + REPLACE_INTERVAL_MS;
    this.#take(oldest.item);
    this.#log(`${address} has ${this.#options.limits.address} connections`, "a connection was closed for a newer one");
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

  /** Closes a connection so that another one has room. */
  #take(connection: Connection): void {
    this.#release(connection);
    connection.socket.destroy();
    this.#taken++;
  }

  #release(connection: Connection): void {
    const { ends, ofAddress, ofUser } = connection;
    if (ofAddress === null || !this.#shares.remove(ofAddress)) {
      return;
    }
    this.#options.descriptorBudget?.release();
    // Its client may have opened another one with the same ends meanwhile.
    if (this.#open.get(ends) === connection) {
      this.#open.delete(ends);
    }
    const address = ofAddress.share.client;
    const users = ofUser === null ? undefined : this.#users.get(address);
    if (users !== undefined && ofUser !== null) {
      users.remove(ofUser);
      if (users.size === 0) {
        this.#users.delete(address);
      }
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

/** The two ends of a connection; unique among open connections. */
export function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
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
    help: "Connections that were closed because their address or user had the most, or had shown no good token for longest, and another one needed a place, by port.",
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
