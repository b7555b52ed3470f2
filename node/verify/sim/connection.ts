/**
 * One connection between two processes, with the frames on their way through it.
 *
 * Frames arrive in their order. When it ends, the newest frames on their way are lost, and the oldest may still arrive.
 * Each side learns of the end by itself. Frames that the socket had no space for yet never left.
 */

import { crc32 } from "node:zlib";
import type { Frame } from "../../src/peers/index.ts";
import type { EventHeap } from "./event-heap.ts";
import type { ProcessLoop } from "./process-loop.ts";
import type { RandomStream } from "./random.ts";
import type { Trace } from "./trace.ts";

export interface ConnectionUser {
  /** A frame has reached the accepting side. */
  onFrame(frame: Frame): void;
  /** The dialing side has lost it, with these frames unsent. */
  onDialerLost(unsent: readonly Frame[]): void;
  /** The accepting side has lost it. */
  onAcceptorLost(): void;
}

/** What a connection, and the faults that end it, need of a process at one of its ends. */
export interface ConnectionEnd {
  readonly memberId: number;
  readonly loop: ProcessLoop;
  /** A frame to or from another member, in words. */
  describe(from: number, frame: Frame): string;
  /** No process listens at the peer's address. */
  notifyGone(peer: number): void;
}

/** What a connection needs of the network that it goes through. */
export interface Wires {
  readonly heap: EventHeap;
  readonly random: RandomStream;
  readonly trace: Trace;
  /** Bytes that a connection takes before its sender must wait. */
  readonly socketBytes: number;
  /** The delay of a message from one member to another now. */
  delayMs(from: number, to: number): number;
  isBlocked(from: number, to: number): boolean;
  /** Calls back when a message from one member has reached the other, or never will. */
  pass(from: number, to: number, arrived: () => void, lost: () => void): void;
  add(connection: Connection): void;
  remove(connection: Connection): void;
}

interface InFlightFrame {
  readonly frame: Frame;
  readonly arrivesMs: number;
}

const HEADER_BYTES = 12;
/** How often a blocked direction is checked, in milliseconds. */
const BLOCKED_MS = 50;
/** Frames that may wait for the socket. */
const QUEUE_FRAMES_MAX = 4_096;

export class Connection {
  readonly from: ConnectionEnd;
  readonly to: ConnectionEnd;
  readonly label: string;
  readonly #network: Wires;
  readonly #user: ConnectionUser;
  #isOpenAtDialer = true;
  #isOpenAtAcceptor = true;
  /** Taken frames that are not handed to the socket. */
  #queue: Frame[] = [];
  /** Frames that are handed to the socket. */
  #wire: InFlightFrame[] = [];
  #wireBytes = 0;
  #lastArrivalMs = 0;
  #isArmed = false;
  /** The accepting side never reads the frames that it has not read yet. */
  #isDiscarded = false;
  #dialerHeardMs: number;
  #acceptorHeardMs: number;

  constructor(network: Wires, from: ConnectionEnd, to: ConnectionEnd, label: string, user: ConnectionUser) {
    this.#network = network;
    this.from = from;
    this.to = to;
    this.label = label;
    this.#user = user;
    this.#dialerHeardMs = network.heap.nowMs;
    this.#acceptorHeardMs = network.heap.nowMs;
    network.add(this);
  }

  get isOpenAtDialer(): boolean {
    return this.#isOpenAtDialer;
  }

  get isOpenAtAcceptor(): boolean {
    return this.#isOpenAtAcceptor;
  }

  /** Queues a frame; false if it was not taken. */
  send(frame: Frame): boolean {
    if (!this.#isOpenAtDialer || this.#queue.length >= QUEUE_FRAMES_MAX) {
      return false;
    }
    this.#queue.push(frame);
    return true;
  }

  /** Hands frames to the socket while it takes them. */
  flush(): void {
    const { heap, socketBytes } = this.#network;
    const { from, to } = this;
    while (this.#isOpenAtDialer && this.#queue.length > 0 && this.#wireBytes <= socketBytes) {
      const frame = this.#queue.shift() as Frame;
      this.#wireBytes += HEADER_BYTES + frame.body.length;
      this.#lastArrivalMs = Math.max(
        this.#lastArrivalMs,
        heap.nowMs + this.#network.delayMs(from.memberId, to.memberId),
      );
      this.#wire.push({ frame, arrivesMs: this.#lastArrivalMs });
      this.#arm();
    }
  }

  /** One side ends it. If that was the dialing side, some frames on their way still arrive. */
  closeBy(side: ConnectionEnd, reason: string): void {
    const { trace, random } = this.#network;
    if (side === this.from && this.#isOpenAtDialer) {
      trace.record(this.from.memberId, "closes", [this.to.memberId], () => `${this.label}: ${reason}`);
      this.#wire = this.#wire.slice(0, random.below(this.#wire.length + 1));
      this.#loseAtDialer();
      this.#notify(this.from, this.to, () => this.#loseAtAcceptor());
    } else if (side === this.to) {
      // Even if its end has arrived: the process may not have read the frames before it, and never will.
      this.#isDiscarded = true;
      if (!this.#isOpenAtAcceptor) {
        return;
      }
      trace.record(this.to.memberId, "closes", [this.from.memberId], () => `${this.label}: ${reason}`);
      this.#loseAtAcceptor();
      this.#notify(this.to, this.from, () => this.#loseAtDialer());
    }
  }

  /** The network ends it: both sides notice it, and the last frames on their way are lost. */
  reset(): void {
    const { random, trace } = this.#network;
    trace.record(this.from.memberId, "is cut off", [this.to.memberId], () => this.label);
    this.#wire = this.#wire.slice(0, random.below(this.#wire.length + 1));
    this.#notify(this.to, this.from, () => this.#loseAtDialer());
    this.#notify(this.from, this.to, () => this.#loseAtAcceptor());
  }

  /** A side that has heard nothing for too long ends it. Both sides send pings while their processes run. */
  checkLiveness(deadMs: number): void {
    const { heap } = this.#network;
    const [from, to] = [this.from, this.to];
    if (!this.#network.isBlocked(from.memberId, to.memberId) && this.#isOpenAtDialer && isSpeaking(from)) {
      this.#acceptorHeardMs = heap.nowMs;
    }
    if (!this.#network.isBlocked(to.memberId, from.memberId) && this.#isOpenAtAcceptor && isSpeaking(to)) {
      this.#dialerHeardMs = heap.nowMs;
    }
    if (heap.nowMs - this.#acceptorHeardMs > deadMs && !to.loop.isPaused) {
      this.closeBy(to, "nothing was heard");
    }
    if (heap.nowMs - this.#dialerHeardMs > deadMs && !from.loop.isPaused) {
      this.closeBy(from, "nothing was heard");
    }
  }

  /** The other side notices the end if anything reaches it; otherwise by silence. */
  #notify(by: ConnectionEnd, other: ConnectionEnd, hear: () => void): void {
    this.#network.pass(by.memberId, other.memberId, hear, () => undefined);
  }

  #loseAtDialer(): void {
    if (!this.#isOpenAtDialer) {
      return;
    }
    this.#isOpenAtDialer = false;
    const unsent = this.#queue;
    this.#queue = [];
    this.from.loop.arrive(() => this.#user.onDialerLost(unsent));
    this.#forgetIfOver();
  }

  #loseAtAcceptor(): void {
    if (!this.#isOpenAtAcceptor) {
      return;
    }
    this.#isOpenAtAcceptor = false;
    this.#wire = [];
    this.to.loop.arrive(() => this.#user.onAcceptorLost());
    this.#forgetIfOver();
  }

  #forgetIfOver(): void {
    if (!this.#isOpenAtDialer && !this.#isOpenAtAcceptor) {
      this.#network.remove(this);
    }
  }

  #arm(): void {
    const [next] = this.#wire;
    if (next !== undefined && !this.#isArmed) {
      this.#isArmed = true;
      this.#network.heap.at(next.arrivesMs, () => this.#arrive());
    }
  }

  #arrive(): void {
    const { heap, trace } = this.#network;
    this.#isArmed = false;
    const [next] = this.#wire;
    if (next === undefined) {
      return;
    }
    if (this.#network.isBlocked(this.from.memberId, this.to.memberId)) {
      this.#isArmed = true;
      heap.after(BLOCKED_MS, () => this.#arrive());
      return;
    }
    this.#wire.shift();
    this.#wireBytes -= HEADER_BYTES + next.frame.body.length;
    const { type, body } = next.frame;
    trace.record(this.to.memberId, "gets", [this.from.memberId, type, crc32(body)], () => {
      return this.to.describe(this.from.memberId, next.frame);
    });
    this.to.loop.arrive(() => {
      if (!this.#isDiscarded) {
        this.#user.onFrame(next.frame);
      }
    });
    if (this.#queue.length > 0) {
      this.from.loop.arrive(() => this.flush());
    }
    this.#arm();
  }
}

/** Whether the process sends pings. */
function isSpeaking({ loop }: ConnectionEnd): boolean {
  return !loop.isDead && !loop.isPaused;
}
