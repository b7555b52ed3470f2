/**
 * What simulated processes and the snapshots between them are to each other. The network, its links and its snapshots
 * know no more of a process than this.
 */

import type { Frame, Hello, IdentityRefusal, LinkKind, PeerMember, VersionRange } from "../../src/peers/index.ts";
import type { IncomingSnapshot, MemberList } from "../../src/replica/index.ts";
import type { Connection, ConnectionEnd } from "./connection.ts";

/** A verified peer, as its handshake describes it. */
export interface Accepted {
  readonly incarnation: string;
  readonly boot: number;
  readonly damaged: boolean;
  /** Only the dialing side sends the versions that it can run. */
  readonly versions: VersionRange | null;
}

/** A process at which another one dials. */
export interface PeerProcess extends ConnectionEnd {
  readonly incarnation: string;
  readonly boot: number;
  readonly isDamaged: boolean;
  /** The members, for a process that asks for them. */
  knownMembers(): MemberList | null;
  /** The handshake for a member. */
  hello(kind: Hello["kind"], target: { readonly memberId: number; readonly incarnation: string }): Hello;
  /** A handshake has arrived. Returns the reason of a refusal, or null. */
  onHello(hello: Hello, connection: Connection): IdentityRefusal | null;
  onFrame(peer: number, kind: LinkKind, frame: Frame): void;
  onIncomingLost(connection: Connection): void;
  /** The handshake for a snapshot has arrived; BUSY says nothing about the identity. */
  onSnapshotHello(hello: Hello, stream: PassingSnapshot): IdentityRefusal | "BUSY" | null;
  /** A frame of a snapshot goes to the driver next; null = its end. */
  onSnapshotFrame(frame: Frame | null): void;
  onSnapshotEnd(incarnation: string, stream: PassingSnapshot): void;
}

/** A process that dials another one by this link. */
export interface DialingProcess extends PeerProcess {
  /** Whether the dialed member that has accepted is not a former boot. */
  isCurrent(accepted: Accepted): boolean;
  onUsable(member: PeerMember, accepted: Accepted): void;
  onRefused(peer: number, refusal: IdentityRefusal): void;
  onLinkLost(member: PeerMember, kind: LinkKind, unsent: readonly Frame[]): void;
}

/** A snapshot on its way from one process to another. */
export interface PassingSnapshot {
  /** The boot of its sender. */
  readonly boot: number;
  /** The peer's side. */
  readonly incoming: IncomingSnapshot;
  isFrom(process: ConnectionEnd): boolean;
  involves(process: ConnectionEnd): boolean;
  /** Flips a bit of the next frame; the place is a share of its length. */
  spoil(place: number): void;
  /** Ends the connection early. */
  breakOff(reason: string): void;
}
