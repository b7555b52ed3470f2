/**
 * The driver's interface to the connections to other members.
 *
 * Callbacks come in events of their own, never from within a call of the driver. `peers/` has the real implementation;
 * the simulator has its own.
 */

import type { Frame, LinkKind } from "../../peers/index.ts";

export interface Transport {
  /** Whether `send` would take a frame, unless its queue is full. */
  isConnected(peer: number, kind: LinkKind): boolean;
  /** Queues a frame for the peer. Returns false if the frame certainly never leaves. */
  send(peer: number, kind: LinkKind, type: number, body: Uint8Array): boolean;
  /** Sends the frames that were queued since the last call. */
  flush(): void;
  /** Opens a separate stream to the peer. The next `done` reports any failure. */
  openSnapshot(peer: number): OutgoingSnapshot;
}

/** A snapshot to a peer. One call at a time; `done` gets the error, or null. */
export interface OutgoingSnapshot {
  write(type: number, body: Uint8Array, done: (error: Error | null) => void): void;
  /** Ends the stream; calls `done` when the peer has read everything. */
  end(done: (error: Error | null) => void): void;
  abort(): void;
}

/** A snapshot that a verified peer sends. One read at a time. */
export interface IncomingSnapshot {
  /** Reads the next frame; null without an error at the end. */
  read(done: (error: Error | null, frame: Frame | null) => void): void;
  /** Cancels the snapshot, or releases it after its end. */
  close(): void;
}
