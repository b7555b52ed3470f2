/**
 * Connections between replicas in memory, over a fake clock: a frame arrives in the turn after it left.
 *
 * The spec decides the faults: a connection is cut, held (frames leave and do not arrive), or clogged (frames are taken
 * and do not leave). As with real connections, the replica learns of a verified connection before its first frame. A
 * connection that ends reports the frames that certainly never left.
 */

import type { Frame, LinkKind, VersionRange } from "../../src/peers/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import type { IncomingSnapshot, OutgoingSnapshot, Scheduler, Transport } from "../../src/replica/index.ts";
import { CLUSTER_VERSIONS } from "../../src/state/index.ts";
import { MemorySnapshot } from "./memory-snapshot.ts";

/** The part of a replica that connections talk to. */
export interface NetworkUser {
  onFrame(peer: number, kind: LinkKind, frame: Frame): void;
  onConnected(
    peer: number,
    connected: {
      readonly boot: number;
      readonly restarted: boolean;
      readonly damaged: boolean;
      readonly versions: VersionRange;
    },
  ): void;
  onUnreachable(peer: number): void;
  onUnsent(peer: number, kind: LinkKind, frames: readonly Frame[]): void;
  onSnapshot(peer: number, incoming: IncomingSnapshot): void;
}

interface Process {
  readonly user: NetworkUser;
  readonly boot: number;
  damaged: boolean;
  /** The last start of each peer that this process has met. */
  readonly boots: Map<number, number>;
}

interface Link {
  readonly from: number;
  readonly to: number;
  readonly kind: LinkKind;
  isConnected: boolean;
  isHeld: boolean;
  isClogged: boolean;
  /** Taken frames that have not left. */
  queue: Frame[];
  /** Frames that have left and not arrived. */
  wire: Frame[];
}

const KINDS: readonly LinkKind[] = ["control", "log"];

export class MemoryNetwork {
  readonly #scheduler: Scheduler;
  readonly #processes = new Map<number, Process>();
  readonly #links = new Map<string, Link>();
  /** Every frame that has left, oldest first. */
  readonly frames: { readonly from: number; readonly to: number; readonly frame: Frame }[] = [];
  /** Every snapshot that has reached its member, oldest first. */
  readonly snapshots: MemorySnapshot[] = [];
  /** Whether the frames of new snapshots wait for the spec. */
  areSnapshotsHeld = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** The transport of this member's process. */
  transportOf(id: number): Transport {
    return {
      isConnected: (peer, kind) => this.#link(id, peer, kind).isConnected,
      send: (peer, kind, type, body) => this.#send(id, peer, kind, { type, body }),
      flush: () => this.#flush(id),
      openSnapshot: (peer) => this.#openSnapshot(id, peer),
    };
  }

  /** The process is running, and is connected with all other running ones. */
  attach(id: number, user: NetworkUser, boot: number, damaged: boolean): void {
    this.#processes.set(id, { user, boot, damaged, boots: new Map() });
    for (const peer of this.#processes.keys()) {
      if (peer !== id) {
        this.connect(id, peer);
      }
    }
  }

  /** The process has ended. */
  detach(id: number): void {
    for (const peer of this.#processes.keys()) {
      if (peer !== id) {
        this.cut(id, peer);
      }
    }
    this.#processes.delete(id);
  }

  /** From its next connections on, the process reports that it is not damaged; all its connections are made again. */
  heal(id: number): void {
    const process = this.#process(id);
    process.damaged = false;
    for (const peer of this.#processes.keys()) {
      if (peer !== id) {
        this.cut(id, peer);
        this.connect(id, peer);
      }
    }
  }

  /** Connects two members in both directions. */
  connect(one: number, other: number): void {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      for (const kind of KINDS) {
        Object.assign(this.#link(from, to, kind), { isConnected: true, isHeld: false, isClogged: false });
        this.#notify(to, from);
        this.#notify(from, to);
      }
    }
  }

  /** Ends the connections of two members in both directions. */
  cut(one: number, other: number): void {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      for (const kind of KINDS) {
        this.#end(this.#link(from, to, kind));
      }
    }
    for (const snapshot of this.snapshots) {
      if ([snapshot.from, snapshot.to].every((id) => id === one || id === other)) {
        snapshot.break(new Error("the connection is lost"));
      }
    }
  }

  /** Cuts the member off from all others. */
  isolate(id: number): void {
    for (const peer of this.#processes.keys()) {
      if (peer !== id) {
        this.cut(id, peer);
      }
    }
  }

  /** Connects the member with all others. */
  rejoin(id: number): void {
    for (const peer of this.#processes.keys()) {
      if (peer !== id) {
        this.connect(id, peer);
      }
    }
  }

  /** Ends a single connection, with all frames on it. */
  cutLink(from: number, to: number, kind: LinkKind): void {
    this.#end(this.#link(from, to, kind));
  }

  /** Frames on the connection leave and do not arrive, until `release`. */
  hold(from: number, to: number, kind: LinkKind): void {
    this.#link(from, to, kind).isHeld = true;
  }

  release(from: number, to: number, kind: LinkKind): void {
    const link = this.#link(from, to, kind);
    link.isHeld = false;
    this.#scheduler.immediate(() => this.#deliver(link));
  }

  /** Frames on the connection are taken and do not leave, until it ends. */
  clog(from: number, to: number, kind: LinkKind): void {
    this.#link(from, to, kind).isClogged = true;
  }

  /** Types of the frames that have left from one member to the other. */
  typesSent(from: number, to: number): number[] {
    return this.frames.filter((one) => one.from === from && one.to === to).map(({ frame }) => frame.type);
  }

  #process(id: number): Process {
    const process = this.#processes.get(id);
    invariant(process !== undefined, "members are attached before they are talked to", () => String(id));
    return process;
  }

  #link(from: number, to: number, kind: LinkKind): Link {
    const name = `${from} ${to} ${kind}`;
    let link = this.#links.get(name);
    if (link === undefined) {
      link = { from, to, kind, isConnected: false, isHeld: false, isClogged: false, queue: [], wire: [] };
      this.#links.set(name, link);
    }
    return link;
  }

  /** A connection with `peer` is verified: the process of `id` learns that. */
  #notify(id: number, peer: number): void {
    const { user, boots } = this.#process(id);
    const { boot, damaged } = this.#process(peer);
    const before = boots.get(peer) ?? 0;
    boots.set(peer, boot);
    user.onConnected(peer, { boot, restarted: before > 0 && boot > before, damaged, versions: CLUSTER_VERSIONS });
  }

  #send(from: number, to: number, kind: LinkKind, frame: Frame): boolean {
    const link = this.#link(from, to, kind);
    if (link.isConnected) {
      link.queue.push(frame);
    }
    return link.isConnected;
  }

  #flush(from: number): void {
    for (const link of this.#links.values()) {
      if (link.from === from && link.queue.length > 0 && !link.isClogged) {
        for (const frame of link.queue) {
          this.frames.push({ from, to: link.to, frame });
        }
        link.wire.push(...link.queue.splice(0));
        this.#scheduler.immediate(() => this.#deliver(link));
      }
    }
  }

  #deliver(link: Link): void {
    if (link.isHeld || !link.isConnected) {
      return;
    }
    for (const frame of link.wire.splice(0)) {
      this.#processes.get(link.to)?.user.onFrame(link.from, link.kind, frame);
    }
  }

  #end(link: Link): void {
    if (!link.isConnected) {
      return;
    }
    link.isConnected = false;
    link.wire = [];
    const unsent = link.queue.splice(0);
    const sender = this.#processes.get(link.from)?.user;
    sender?.onUnreachable(link.to);
    if (unsent.length > 0) {
      sender?.onUnsent(link.to, link.kind, unsent);
    }
  }

  #openSnapshot(from: number, to: number): OutgoingSnapshot {
    const snapshot = new MemorySnapshot(this.#scheduler, from, to, this.areSnapshotsHeld);
    if (this.#link(from, to, "control").isConnected) {
      this.snapshots.push(snapshot);
      this.#scheduler.immediate(() => this.#processes.get(to)?.user.onSnapshot(from, snapshot.incoming));
    } else {
      snapshot.break(new Error("the member is not connected"));
    }
    return snapshot.outgoing;
  }
}
