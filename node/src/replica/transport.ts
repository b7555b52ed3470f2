/**
 * What the driver needs of the connections to other members.
 *
 * Calls back in events of their own, never from within a call of the driver. The real one is that of `peers/`; the
 * simulator has its own.
 */

import type { Frame, LinkKind } from "../peers/index.ts";

export interface Transport {
  /** Whether `send` would take a frame, but for a full queue. */
  isConnected(peer: number, kind: LinkKind): boolean;
  /** Takes a frame for the peer; false if it will certainly never be handed to the network. */
  send(peer: number, kind: LinkKind, type: number, body: Uint8Array): boolean;
  /** Lets what was taken since the last call leave. */
  flush(): void;
  /** Opens a stream of its own to the peer; whatever goes wrong is told by the next `done`. */
  openSnapshot(peer: number): OutgoingSnapshot;
}

/** A snapshot on its way to a peer. One call at a time; `done` gets what went wrong, or null. */
export interface OutgoingSnapshot {
  write(type: number, body: Uint8Array, done: (error: Error | null) => void): void;
  /** Nothing follows; done when the peer has read everything. */
  end(done: (error: Error | null) => void): void;
  abort(): void;
}

/** A snapshot that a verified peer sends. One read at a time. */
export interface IncomingSnapshot {
  /** The next frame; null and no error once everything was read. */
  read(done: (error: Error | null, frame: Frame | null) => void): void;
  /** Gives the snapshot up, or lets go of it after its end. */
  close(): void;
}
