/**
 * The network between simulated processes: who reaches whom, and how long it takes.
 *
 * What is on its way through a blocked direction waits there, as TCP would send it again; where nothing gets through
 * for as long as a connection may be silent, the side that hears nothing ends it.
 */

import type { Connection } from "./connection.ts";
import type { EventHeap } from "./event-heap.ts";
import type { RandomStream } from "./random.ts";
import type { SimTransport } from "./sim-transport.ts";
import type { SnapshotStream } from "./snapshot-stream.ts";
import type { Trace } from "./trace.ts";

export interface NetworkPlan {
  /** Mean and minimum of the time that something takes, in milliseconds. */
  readonly delayMs: number;
  readonly delayMsMin: number;
  /** The share of frames that take much longer, and how long. */
  readonly slowShare: number;
  readonly slowMs: number;
  /** Bytes that a connection takes before it makes its sender wait. */
  readonly socketBytes: number;
}

/** A connection on which nothing was heard for so long is dead, and how often that is looked at. */
const DEAD_MS = 3_000;
const LIVENESS_MS = 500;
/** What cannot pass tries again after so long. */
const BLOCKED_MS = 100;

export class Network {
  readonly heap: EventHeap;
  readonly random: RandomStream;
  readonly trace: Trace;
  readonly #plan: NetworkPlan;
  /** The process of each member that is up. */
  readonly #processes = new Map<number, SimTransport>();
  /** Directed pairs "from>to" through which nothing passes, by what has cut them. */
  #cuts: { readonly pairs: ReadonlySet<string> }[] = [];
  /** Directed pairs through which everything takes longer, by so many milliseconds. */
  #lags: { readonly pairs: ReadonlySet<string>; readonly extraMs: number }[] = [];
  readonly #connections = new Set<Connection>();
  readonly #streams = new Set<SnapshotStream>();
  #isCalm = false;
  /** Where the next snapshot is spoilt. */
  #spoilt: number | null = null;

  constructor(heap: EventHeap, random: RandomStream, trace: Trace, plan: NetworkPlan) {
    this.heap = heap;
    this.random = random;
    this.trace = trace;
    this.#plan = plan;
    this.#lookAtConnections();
  }

  get socketBytes(): number {
    return this.#plan.socketBytes;
  }

  get connections(): readonly Connection[] {
    return [...this.#connections];
  }

  /** Whether the cluster is left in peace. */
  get isCalm(): boolean {
    return this.#isCalm;
  }

  /** From now on nothing takes long. */
  calm(): void {
    this.#isCalm = true;
    this.#cuts = [];
    this.#lags = [];
    this.#spoilt = null;
  }

  /** How long something takes that one member sends to another now. */
  delayMs(from: number, to: number): number {
    const { delayMs, delayMsMin, slowShare, slowMs } = this.#plan;
    if (this.#isCalm) {
      return delayMsMin + this.random.exponential(Math.min(delayMs, 1));
    }
    const isSlow = this.random.chance(slowShare);
    const pair = `${from}>${to}`;
    const lagMs = this.#lags.reduce((sum, { pairs, extraMs }) => sum + (pairs.has(pair) ? extraMs : 0), 0);
    return delayMsMin + lagMs + this.random.exponential(isSlow ? slowMs : delayMs);
  }

  /** Those that are up. */
  get processes(): readonly SimTransport[] {
    return [...this.#processes.values()];
  }

  processOf(memberId: number): SimTransport | undefined {
    return this.#processes.get(memberId);
  }

  up(process: SimTransport): void {
    this.#processes.set(process.memberId, process);
  }

  /** The process has ended, and its sockets with it. */
  down(process: SimTransport): void {
    this.#processes.delete(process.memberId);
    for (const connection of this.connections) {
      if (connection.from === process || connection.to === process) {
        connection.closeBy(process, "its process has ended");
      }
    }
    for (const stream of this.streams) {
      if (stream.involves(process)) {
        stream.breakOff("one of its processes has ended");
      }
    }
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
  }

  remove(connection: Connection): void {
    this.#connections.delete(connection);
  }

  get streams(): readonly SnapshotStream[] {
    return [...this.#streams];
  }

  addStream(stream: SnapshotStream): void {
    this.#streams.add(stream);
    if (this.#spoilt !== null) {
      stream.spoil(this.#spoilt);
      this.#spoilt = null;
    }
  }

  /** A bit of the stream is turned over; if there is none, of the next one. */
  spoil(place: number, stream: SnapshotStream | undefined): void {
    if (stream === undefined) {
      this.#spoilt = place;
    } else {
      stream.spoil(place);
    }
  }

  removeStream(stream: SnapshotStream): void {
    this.#streams.delete(stream);
  }

  isBlocked(from: number, to: number): boolean {
    return this.#cuts.some(({ pairs }) => pairs.has(`${from}>${to}`));
  }

  /** Cuts all directions for which that holds, among these members, for so long. */
  cut(ids: readonly number[], durationMs: number, isCut: (from: number, to: number) => boolean): void {
    const cut = { pairs: pairsOf(ids, isCut) };
    this.#cuts.push(cut);
    this.heap.after(durationMs, () => {
      this.#cuts = this.#cuts.filter((one) => one !== cut);
    });
  }

  /** What is sent in these directions takes so much longer for a while; its order and distances stay. */
  lag(
    ids: readonly number[],
    durationMs: number,
    extraMs: number,
    isLagged: (from: number, to: number) => boolean,
  ): void {
    const lag = { pairs: pairsOf(ids, isLagged), extraMs };
    this.#lags.push(lag);
    this.heap.after(durationMs, () => {
      this.#lags = this.#lags.filter((one) => one !== lag);
    });
  }

  /**
   * Calls back when something from one member has reached the other, or that it never will. `waitMs`: how long it has
   * waited already.
   */
  pass(from: number, to: number, arrived: () => void, lost: () => void, waitMs = 0): void {
    const delayMs = waitMs === 0 ? this.delayMs(from, to) : BLOCKED_MS;
    this.heap.after(delayMs, () => {
      if (!this.isBlocked(from, to)) {
        arrived();
      } else if (waitMs > DEAD_MS) {
        lost();
      } else {
        this.pass(from, to, arrived, lost, waitMs + delayMs);
      }
    });
  }

  #lookAtConnections(): void {
    this.heap.after(LIVENESS_MS, () => {
      for (const connection of this.connections) {
        connection.checkLiveness(DEAD_MS);
      }
      this.#lookAtConnections();
    });
  }
}

/** Those directed pairs of members, as "from>to". */
function pairsOf(ids: readonly number[], isMeant: (from: number, to: number) => boolean): ReadonlySet<string> {
  const pairs = ids.flatMap((from) =>
    ids.filter((to) => from !== to && isMeant(from, to)).map((to) => `${from}>${to}`),
  );
  return new Set(pairs);
}
