/**
 * The network between simulated processes: which processes reach each other, and how long messages take.
 *
 * Messages in a blocked direction wait there, as TCP would send them again. If a direction stays blocked for longer
 * than a connection may be silent, the side that hears nothing ends the connection.
 */

import type { Connection, Wires } from "./connection.ts";
import type { EventHeap } from "./event-heap.ts";
import type { PassingSnapshot, PeerProcess } from "./peer-process.ts";
import type { RandomStream } from "./random.ts";
import type { Trace } from "./trace.ts";

export interface NetworkPlan {
  /** Mean and minimum of a delay, in milliseconds. */
  readonly delayMs: number;
  readonly delayMsMin: number;
  /** The share of frames that take much longer, and how long. */
  readonly slowShare: number;
  readonly slowMs: number;
  /** Bytes that a connection takes before its sender must wait. */
  readonly socketBytes: number;
}

/** A connection that was silent for this long is dead, and how often that is checked. */
const DEAD_MS = 3_000;
const LIVENESS_MS = 500;
/** Pause before a blocked message is tried again. */
const BLOCKED_MS = 100;

export class Network implements Wires {
  readonly heap: EventHeap;
  readonly random: RandomStream;
  readonly trace: Trace;
  readonly #plan: NetworkPlan;
  /** The process of each running member. */
  readonly #processes = new Map<number, PeerProcess>();
  /** Blocked directed pairs "from>to", by the cut that blocks them. */
  #cuts: { readonly pairs: ReadonlySet<string> }[] = [];
  /** Directed pairs with an additional delay, in milliseconds. */
  #lags: { readonly pairs: ReadonlySet<string>; readonly extraMs: number }[] = [];
  readonly #connections = new Set<Connection>();
  readonly #streams = new Set<PassingSnapshot>();
  #hasFaultsEnded = false;
  /** Where the next snapshot is damaged. */
  #spoilt: number | null = null;

  constructor(heap: EventHeap, random: RandomStream, trace: Trace, plan: NetworkPlan) {
    this.heap = heap;
    this.random = random;
    this.trace = trace;
    this.#plan = plan;
    this.#checkConnections();
  }

  get socketBytes(): number {
    return this.#plan.socketBytes;
  }

  get connections(): readonly Connection[] {
    return [...this.#connections];
  }

  /** Whether the faults are over. */
  get hasFaultsEnded(): boolean {
    return this.#hasFaultsEnded;
  }

  /** From now on, no delay is long. */
  endFaults(): void {
    this.#hasFaultsEnded = true;
    this.#cuts = [];
    this.#lags = [];
    this.#spoilt = null;
  }

  /** The delay of a message from one member to another now. */
  delayMs(from: number, to: number): number {
    const { delayMs, delayMsMin, slowShare, slowMs } = this.#plan;
    if (this.#hasFaultsEnded) {
      return delayMsMin + this.random.exponential(Math.min(delayMs, 1));
    }
    const isSlow = this.random.chance(slowShare);
    const pair = `${from}>${to}`;
    const lagMs = this.#lags.reduce((sum, { pairs, extraMs }) => sum + (pairs.has(pair) ? extraMs : 0), 0);
    return delayMsMin + lagMs + this.random.exponential(isSlow ? slowMs : delayMs);
  }

  /** Running processes. */
  get processes(): readonly PeerProcess[] {
    return [...this.#processes.values()];
  }

  processOf(memberId: number): PeerProcess | undefined {
    return this.#processes.get(memberId);
  }

  up(process: PeerProcess): void {
    this.#processes.set(process.memberId, process);
  }

  /** The process and its sockets have ended. */
  down(process: PeerProcess): void {
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

  get streams(): readonly PassingSnapshot[] {
    return [...this.#streams];
  }

  addStream(stream: PassingSnapshot): void {
    this.#streams.add(stream);
    if (this.#spoilt !== null) {
      stream.spoil(this.#spoilt);
      this.#spoilt = null;
    }
  }

  /** Flips a bit of the stream; if there is none, of the next one. */
  spoil(place: number, stream: PassingSnapshot | undefined): void {
    if (stream === undefined) {
      this.#spoilt = place;
    } else {
      stream.spoil(place);
    }
  }

  removeStream(stream: PassingSnapshot): void {
    this.#streams.delete(stream);
  }

  isBlocked(from: number, to: number): boolean {
    return this.#cuts.some(({ pairs }) => pairs.has(`${from}>${to}`));
  }

  /** Cuts all directions among these members for which `isCut` returns true, for this long. */
  cut(ids: readonly number[], durationMs: number, isCut: (from: number, to: number) => boolean): void {
    const cut = { pairs: pairsOf(ids, isCut) };
    this.#cuts.push(cut);
    this.heap.after(durationMs, () => {
      this.#cuts = this.#cuts.filter((one) => one !== cut);
    });
  }

  /** Delays messages in these directions for a while; their order and intervals stay. */
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
   * Calls back when a message from one member has reached the other, or never will. `waitMs`: how long it has waited
   * already.
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

  #checkConnections(): void {
    this.heap.after(LIVENESS_MS, () => {
      for (const connection of this.connections) {
        connection.checkLiveness(DEAD_MS);
      }
      this.#checkConnections();
    });
  }
}

/** The directed pairs of members, as "from>to", for which `isMeant` returns true. */
function pairsOf(ids: readonly number[], isMeant: (from: number, to: number) => boolean): ReadonlySet<string> {
  const pairs = ids.flatMap((from) =>
    ids.filter((to) => from !== to && isMeant(from, to)).map((to) => `${from}>${to}`),
  );
  return new Set(pairs);
}
