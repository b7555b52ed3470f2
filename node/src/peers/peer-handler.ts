/**
 * The interface between the connections between members and their user.
 *
 * Calls come from socket and timer events, never from within a call of the transport, so the handler may change its own
 * state at once. The transport does not catch an error of a call: it ends the process, as a broken invariant must. The
 * only exception is a FrameError of `onFrame`, which ends the connection.
 */

import type { Frame } from "./frame.ts";
import type { LinkKind } from "./frame-type.ts";
import type { AcceptorView, IdentityRefusal, VersionRange } from "./hello.ts";
import type { JoinAnswer, JoinRequest } from "./join-codec.ts";
import type { SnapshotReceiver } from "./snapshot-receiver.ts";

/** What a handshake revealed about the other member. */
export interface ConnectedPeer {
  readonly incarnation: string;
  readonly boot: number;
  /** An earlier boot of it was connected before: the requests of that boot are void. */
  readonly restarted: boolean;
  readonly damaged: boolean;
  /**
   * The cluster versions that it announces; null on connections that we dialed, where the handshake does not contain
   * them.
   */
  readonly versions: VersionRange | null;
}

export interface PeerHandler {
  /** What this member knows now. The transport judges handshakes by it and introduces this member with it. */
  view(): AcceptorView;
  /**
   * A connection in either direction is verified. Frames of older connections that it replaces arrived before or never
   * will; its own first frame arrives after this call. If the peer has restarted, a handler that keeps frames for a
   * later turn must drop those of this peer here (P34).
   */
  onConnected(peer: number, connected: ConnectedPeer): void;
  /** Frames to the peer were dropped, or the connection that carried them has ended. */
  onUnreachable(peer: number): void;
  /** Nothing listens at the peer's address: as far as this member can know, the peer's process is gone. */
  onGone(peer: number): void;
  /** Frames that `send` took but that certainly never reached a socket, in order; they are lost. */
  onUnsent(peer: number, kind: LinkKind, frames: readonly Frame[]): void;
  /**
   * A verified peer has sent a frame. Raises a FrameError if the body does not fit the type. So the handler must decode
   * a frame here, even if it keeps it for a later turn, when an error could not end the connection any more.
   */
  onFrame(peer: number, kind: LinkKind, frame: Frame): void;
  /** A peer that this member dialed refuses it. The transport dials again, with growing delays. */
  onRefused(peer: number, refusal: IdentityRefusal): void;
  /** A verified peer sends a snapshot. The handler must read the receiver to its end, or close it. */
  onSnapshot(peer: number, receiver: SnapshotReceiver): void;
  /** A process that knows the join token asks for a slot. The transport logs a rejection and answers TRY_LATER. */
  onJoin(request: JoinRequest): Promise<JoinAnswer>;
  /** The problem with the certificate files, while the last valid ones stay in use; null once they are valid again. */
  onTlsProblem(problem: string | null): void;
}

/** Where the transport writes its log; it never logs a secret. */
export interface PeerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
