/** The connections of one part of a driver under test: records sent frames, and refuses some as the spec says. */

import type { Frame, FrameType, LinkKind } from "../../src/peers/index.ts";
import type { OutgoingSnapshot, Scheduler, Transport } from "../../src/replica/index.ts";
import { MemorySnapshot } from "./memory-snapshot.ts";

export class ScriptedTransport implements Transport {
  readonly #scheduler: Scheduler;
  /** Taken frames, oldest first. */
  readonly sent: { readonly peer: number; readonly kind: LinkKind; readonly frame: Frame }[] = [];
  /** Snapshots that were opened, oldest first. */
  readonly snapshots: MemorySnapshot[] = [];
  /** Peers that are not connected. */
  readonly away = new Set<number>();
  /** Whether frames are refused although the peer is connected, as by a full queue. */
  isFull = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  isConnected(peer: number): boolean {
    return !this.away.has(peer);
  }

  send(peer: number, kind: LinkKind, type: number, body: Uint8Array): boolean {
    const isTaken = !this.isFull && this.isConnected(peer);
    if (isTaken) {
      this.sent.push({ peer, kind, frame: { type, body } });
    }
    return isTaken;
  }

  flush(): void {
    // All frames have left already.
  }

  openSnapshot(peer: number): OutgoingSnapshot {
    const snapshot = new MemorySnapshot(this.#scheduler, 1, peer);
    this.snapshots.push(snapshot);
    return snapshot.outgoing;
  }

  /** Removes and returns the bodies of the frames of this type, oldest first. */
  take(type: (typeof FrameType)[keyof typeof FrameType]): Uint8Array[] {
    const taken = this.sent.filter(({ frame }) => frame.type === type);
    for (const one of taken) {
      this.sent.splice(this.sent.indexOf(one), 1);
    }
    return taken.map(({ frame }) => frame.body);
  }
}
