/**
 * The connections of one simulated process, with the rules of the real ones. Each member dials each other one. A
 * handshake is checked before anything else. A newer connection replaces an older one and all its unread frames. A
 * higher boot ends everything of lower ones.
 */

import {
  type AcceptorView,
  decodeMessage,
  type Frame,
  FrameType,
  type Hello,
  type IdentityRefusal,
  isMessageType,
  type LinkKind,
  type PeerMember,
  PROTOCOL_VERSIONS,
  validateHello,
} from "../../src/peers/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import type { MemberList, OutgoingSnapshot, Replica, Transport } from "../../src/replica/index.ts";
import type { Connection } from "./connection.ts";
import { Link } from "./link.ts";
import type { Network } from "./network.ts";
import type { Accepted, DialingProcess, PassingSnapshot } from "./peer-process.ts";
import { type ProcessLoop, passPoint } from "./process-loop.ts";
import { SnapshotStream } from "./snapshot-stream.ts";

/** The events for the member behind the transport. Called in callbacks of its process. */
export interface TransportUser {
  view(): AcceptorView;
  replica(): Replica;
  onFrameSent(to: number, frame: Frame): void;
  /** No connection has taken a frame. */
  onFrameUnsent(to: number): void;
  /** A frame goes to the driver next. */
  onFrame(from: number, frame: Frame): void;
  onConnected(peer: number, restarted: boolean): void;
  /** No process listens at the peer's address. */
  onGone(peer: number): void;
  onSnapshot(): void;
  /** A snapshot with this manifest is offered; it may be damaged. */
  onManifest(body: Uint8Array): void;
  /** The members, for a process that asks for them. */
  knownMembers(): MemberList | null;
  onRefused(peer: number, refusal: IdentityRefusal): void;
}

const LINK_KINDS: readonly LinkKind[] = ["control", "log"];
/** Snapshots that a process receives at a time. */
const INCOMING_SNAPSHOTS_MAX = 2;
/** The name of a type of frames. */
export function nameOfType(type: number): string {
  return TYPE_NAMES.get(type) ?? String(type);
}

/** Frames are described by the names of their types. */
const TYPE_NAMES = new Map<number, string>(Object.entries(FrameType).map(([name, type]) => [type, name]));

export class SimTransport implements Transport, DialingProcess {
  readonly memberId: number;
  readonly incarnation: string;
  readonly loop: ProcessLoop;
  readonly #network: Network;
  readonly #user: TransportUser;
  readonly #links = new Map<number, Map<LinkKind, Link>>();
  /** Accepted connections by incarnation and kind. */
  readonly #incoming = new Map<string, { readonly connection: Connection; readonly hello: Hello }>();
  readonly #snapshots = new Map<string, PassingSnapshot>();
  /** The highest boot seen of each incarnation. */
  readonly #boots = new Map<string, number>();
  readonly #unflushed = new Set<Connection>();
  readonly #unreachable = new Set<number>();

  constructor(memberId: number, incarnation: string, loop: ProcessLoop, network: Network, user: TransportUser) {
    this.memberId = memberId;
    this.incarnation = incarnation;
    this.loop = loop;
    this.#network = network;
    this.#user = user;
  }

  // ---- For the driver ----

  isConnected(peer: number, kind: LinkKind): boolean {
    return this.#links.get(peer)?.get(kind)?.connection?.isOpenAtDialer === true;
  }

  send(peer: number, kind: LinkKind, type: number, body: Uint8Array): boolean {
    passPoint();
    const connection = this.#links.get(peer)?.get(kind)?.connection;
    const frame = { type, body };
    if (connection?.send(frame) === true) {
      this.#unflushed.add(connection);
      this.#user.onFrameSent(peer, frame);
      return true;
    }
    if (connection?.isOpenAtDialer === true) {
      this.notifyUnreachable(peer);
    }
    this.#user.onFrameUnsent(peer);
    return false;
  }

  flush(): void {
    for (const connection of this.#unflushed) {
      passPoint();
      connection.flush();
    }
    this.#unflushed.clear();
  }

  openSnapshot(peer: number): OutgoingSnapshot {
    const member = this.#links.get(peer)?.get("control")?.member;
    return new SnapshotStream(this.#network, this, peer, member === undefined ? null : member.incarnation);
  }

  // ---- For the member ----

  /** Sets the members, as far as this one knows them. */
  setPeers(members: readonly PeerMember[]): void {
    const others = new Map(members.filter(({ memberId }) => memberId !== this.memberId).map((m) => [m.memberId, m]));
    for (const [id, links] of this.#links) {
      if (others.get(id)?.incarnation !== links.get("control")?.member.incarnation) {
        this.#links.delete(id);
        for (const link of links.values()) {
          link.close("the member is no longer listed");
        }
      }
    }
    for (const member of others.values()) {
      if (!this.#links.has(member.memberId)) {
        const links = LINK_KINDS.map((kind) => [kind, new Link(this.#network, this, member, kind)] as const);
        this.#links.set(member.memberId, new Map(links));
      }
    }
    for (const { connection, hello } of [...this.#incoming.values()]) {
      if (this.#judge(hello) !== null) {
        connection.closeBy(this, "its member does not belong here any more");
      }
    }
  }

  /** Ends all dialed connections, and dials again. */
  redial(members: readonly PeerMember[]): void {
    this.setPeers([]);
    this.setPeers(members);
  }

  describe(from: number, { type, body }: Frame): string {
    const name = nameOfType(type);
    if (!isMessageType(type)) {
      return `${name} of m${from}, ${body.length} bytes`;
    }
    const { from: _from, to: _to, type: _type, ...fields } = decodeMessage(type, body, from, this.memberId);
    const words = Object.entries(fields).map(([key, value]) => {
      return `${key}=${Array.isArray(value) ? `(${value.length})` : String(value)}`;
    });
    return `${name} of m${from} ${words.join(" ")}`;
  }

  // ---- Handshakes ----

  hello(kind: Hello["kind"], target: { readonly memberId: number; readonly incarnation: string }): Hello {
    const { clusterId, self } = this.#user.view();
    invariant(clusterId !== null, "only members of a cluster have peers");
    return { protocol: PROTOCOL_VERSIONS, kind, clusterId, source: self, target, joinToken: "", dialHint: null };
  }

  onHello(hello: Hello, connection: Connection): IdentityRefusal | null {
    const refusal = this.#judge(hello);
    if (refusal !== null) {
      return refusal;
    }
    const { source, kind } = hello;
    const key = `${source.incarnation} ${kind}`;
    this.#incoming.get(key)?.connection.closeBy(this, "a newer connection took its place");
    this.#incoming.set(key, { connection, hello });
    const restarted = this.#meet(source.incarnation, source.boot);
    this.#dialNow(source.memberId);
    this.#notifyConnected(source.memberId, { ...source, restarted });
    return null;
  }

  onSnapshotHello(hello: Hello, stream: PassingSnapshot): IdentityRefusal | "BUSY" | null {
    const { source } = hello;
    const before = this.#snapshots.get(source.incarnation);
    const isFull = before === undefined && this.#snapshots.size >= INCOMING_SNAPSHOTS_MAX;
    const refusal = this.#judge(hello) ?? (isFull ? "BUSY" : null);
    if (refusal !== null) {
      return refusal;
    }
    before?.breakOff("a newer one took its place");
    this.#snapshots.set(source.incarnation, stream);
    const restarted = this.#meet(source.incarnation, source.boot);
    this.#dialNow(source.memberId);
    if (restarted) {
      this.#notifyConnected(source.memberId, { ...source, restarted });
    }
    this.#user.onSnapshot();
    this.#user.replica().onSnapshot(source.memberId, stream.incoming);
    return null;
  }

  onSnapshotFrame(frame: Frame | null): void {
    if (frame?.type === FrameType.SnapshotManifest) {
      this.#user.onManifest(frame.body);
    }
  }

  onSnapshotEnd(incarnation: string, stream: PassingSnapshot): void {
    if (this.#snapshots.get(incarnation) === stream) {
      this.#snapshots.delete(incarnation);
    }
  }

  isCurrent({ incarnation, boot }: Accepted): boolean {
    return boot >= (this.#boots.get(incarnation) ?? 0);
  }

  onUsable({ memberId }: PeerMember, accepted: Accepted): void {
    const restarted = this.#meet(accepted.incarnation, accepted.boot);
    this.#notifyConnected(memberId, { ...accepted, restarted });
  }

  onRefused(peer: number, refusal: IdentityRefusal): void {
    this.#network.trace.record(this.memberId, "is refused by", [peer], () => `m${peer}: ${refusal}`);
    this.#user.onRefused(peer, refusal);
  }

  onFrame(peer: number, kind: LinkKind, frame: Frame): void {
    this.#user.onFrame(peer, frame);
    this.#user.replica().onFrame(peer, kind, frame);
  }

  onLinkLost({ memberId }: PeerMember, kind: LinkKind, unsent: readonly Frame[]): void {
    this.notifyUnreachable(memberId);
    if (unsent.length > 0) {
      this.loop.defer(() => this.#user.replica().onUnsent(memberId, kind, unsent));
    }
  }

  onIncomingLost(connection: Connection): void {
    for (const [key, incoming] of this.#incoming) {
      if (incoming.connection === connection) {
        this.#incoming.delete(key);
      }
    }
  }

  notifyUnreachable(peer: number): void {
    if (!this.#unreachable.has(peer)) {
      this.#unreachable.add(peer);
      this.loop.defer(() => {
        this.#unreachable.delete(peer);
        this.#user.replica().onUnreachable(peer);
      });
    }
  }

  notifyGone(peer: number): void {
    this.#network.trace.record(this.memberId, "finds nobody at", [peer], () => `m${peer}`);
    this.loop.defer(() => {
      this.#user.onGone(peer);
      this.#user.replica().onGone(peer);
    });
  }

  get boot(): number {
    return this.#user.view().self.boot;
  }

  knownMembers(): MemberList | null {
    return this.#user.knownMembers();
  }

  get isDamaged(): boolean {
    return this.#user.view().self.damaged;
  }

  /** Why a process with this handshake would be refused, or null. */
  judge(hello: Hello): IdentityRefusal | null {
    return this.#judge(hello);
  }

  #judge(hello: Hello): IdentityRefusal | null {
    return validateHello(hello, this.#user.view(), this.#boots.get(hello.source.incarnation) ?? 0);
  }

  #dialNow(peer: number): void {
    for (const link of this.#links.get(peer)?.values() ?? []) {
      link.dialNow();
    }
  }

  /** Notes a boot and ends everything of lower ones. Returns whether there was a lower one. */
  #meet(incarnation: string, boot: number): boolean {
    const before = this.#boots.get(incarnation) ?? 0;
    this.#boots.set(incarnation, Math.max(before, boot));
    const restarted = before > 0 && boot > before;
    if (restarted) {
      for (const { connection, hello } of [...this.#incoming.values()]) {
        if (hello.source.incarnation === incarnation && hello.source.boot < boot) {
          connection.closeBy(this, "its member has restarted");
        }
      }
      const snapshot = this.#snapshots.get(incarnation);
      if (snapshot !== undefined && snapshot.boot < boot) {
        snapshot.breakOff("its member has restarted");
      }
      for (const links of this.#links.values()) {
        for (const link of links.values()) {
          if (link.member.incarnation === incarnation) {
            link.leaveBootsBelow(boot);
          }
        }
      }
    }
    return restarted;
  }

  #notifyConnected(peer: number, connected: Accepted & { readonly restarted: boolean }): void {
    const { boot, restarted, damaged, versions } = connected;
    this.#network.trace.record(this.memberId, "meets", [peer, boot, Number(restarted), Number(damaged)], () => {
      return `m${peer} boot ${boot}${restarted ? " restarted" : ""}${damaged ? " damaged" : ""}`;
    });
    this.#user.replica().onConnected(peer, { boot, restarted, damaged, versions });
    this.#user.onConnected(peer, restarted);
  }
}
