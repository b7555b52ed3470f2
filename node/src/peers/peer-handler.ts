/**
 * What the connections between members ask of those who use them, and tell them.
 *
 * Calls come from events of sockets and timers, never from within a call of the transport, so the handler may act on
 * its own state at once. An error that a call raises is not caught: it ends the process, as a broken invariant must.
 * The one exception is a FrameError raised by `onFrame`, which ends the connection.
 */

import type { Frame } from "./frame.ts";
import type { LinkKind } from "./frame-type.ts";
import type { AcceptorView, IdentityRefusal, VersionRange } from "./hello.ts";
import type { JoinAnswer, JoinRequest } from "./join-codec.ts";
import type { SnapshotReceiver } from "./snapshot-receiver.ts";

/** What a handshake has told about the other member. */
export interface ConnectedPeer {
  readonly incarnation: string;
  readonly boot: number;
  /** An earlier boot of it was connected before: what that one had asked is void. */
  readonly restarted: boolean;
  readonly damaged: boolean;
  /** The cluster versions that it announces; null where the handshake does not say, on connections that we dialed. */
  readonly versions: VersionRange | null;
}

export interface PeerHandler {
  /** What this member knows now, to judge handshakes and to introduce itself. */
  view(): AcceptorView;
  /**
   * A connection in either direction is verified. Frames of older connections that it replaces were handed over before
   * or never will be, and its own first one comes after. Whoever keeps frames for a later turn must drop those of this
   * peer here if it has restarted (P34).
   */
  onConnected(peer: number, connected: ConnectedPeer): void;
  /** Frames to the peer were dropped, or the connection that carried them has ended. */
  onUnreachable(peer: number): void;
  /** Nothing listens where the peer should: its process is not there, as far as one can know. */
  onGone(peer: number): void;
  /** Frames that `send` took and that were certainly never handed to a socket, in their order; they are dropped. */
  onUnsent(peer: number, kind: LinkKind, frames: readonly Frame[]): void;
  /**
   * A verified peer has sent a frame. Raises a FrameError if the body is not what the type promises: so it is decoded
   * here, even if it is kept for a later turn, in which an error could not end the connection any more.
   */
  onFrame(peer: number, kind: LinkKind, frame: Frame): void;
  /** A peer that this member dialed says that it does not belong here. It is asked again, with growing pauses. */
  onRefused(peer: number, refusal: IdentityRefusal): void;
  /** A verified peer sends a snapshot. The receiver must be read to its end, or closed. */
  onSnapshot(peer: number, receiver: SnapshotReceiver): void;
  /** A process that knows the join token asks for a slot. A rejection is answered TRY_LATER and logged. */
  onJoin(request: JoinRequest): Promise<JoinAnswer>;
  /** What is wrong with the certificate files, so that the last good ones stay in use; null once they are right. */
  onTlsProblem(problem: string | null): void;
}

/** Where the transport writes its log; secrets are never passed to it. */
export interface PeerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
