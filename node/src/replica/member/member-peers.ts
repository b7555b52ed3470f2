/**
 * A member's side of the connections between members: how it identifies itself, which members it dials, and where
 * arriving frames go.
 *
 * Before the member belongs to a cluster it refuses all peers, and may ask for a slot. Afterwards it dials the members
 * in its peer directory, and passes their frames to the driver. Refusals by peers are kept as alarms.
 */

import {
  type AcceptorView,
  type ConnectedPeer,
  ConnectionError,
  decodeKeptTrace,
  encodeKeptTrace,
  type Frame,
  FrameType,
  type IdentityRefusal,
  type JoinAnswer,
  type JoinRequest,
  KEPT_TRACE_PROTOCOL,
  type KeptTrace,
  type LinkKind,
  type PeerHandler,
  type PeerLog,
  PeerTransport,
  type PeerTransportOptions,
  type SelfDescription,
  type SnapshotReceiver,
} from "../../peers/index.ts";
import { CLUSTER_VERSIONS, type MemberAddress } from "../../state/index.ts";
import type { Clock, Transport } from "../context/index.ts";
import type { Replica } from "../driver/index.ts";
import { answerJoin } from "./join-answer.ts";
import { MemberTransport, ReceivedSnapshot } from "./member-transport.ts";
import { type MemberList, PeerDirectory } from "./peer-directory.ts";

/** Events in the life of the member. Each is called in an event of its own. */
export interface MemberPeersUser {
  /** A verified peer says that this member was removed. */
  onRemoved(peer: number): void;
  /** A verified peer has met a later start of this data directory. */
  onStale(peer: number): void;
  /** All other members refuse this binary. */
  onTooOld(): void;
  /** A member whose address is not known is connected. */
  onUnlisted(): void;
  /** A peer belongs to another cluster now. */
  onWrongCluster(): void;
}

/** Takes a trace that another member has kept. */
type OnKeptTrace = (kept: KeptTrace) => void;

/** The identity of this member, once it belongs to a cluster. */
export interface MemberSelf {
  readonly clusterId: string;
  readonly memberId: number;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  readonly boot: number;
  readonly damaged: boolean;
}

/** The certificate that a member presents, and the authorities that it trusts. */
export interface PeerCertificate {
  /** Lower-case hexadecimal digits. */
  readonly serial: string;
  /** When it expires, in milliseconds of the wall clock. */
  readonly expiresMs: number;
  /** SHA-256 fingerprints of authorities, in lower-case hexadecimal digits. */
  readonly trustedCas: readonly string[];
}

/** The identity of a process that asks to join. */
export interface JoiningProcess {
  readonly clusterName: string;
  readonly clusterId: string;
  readonly memberId: number;
  readonly name: string;
  readonly incarnation: string;
  readonly endpoints: MemberAddress;
}

/** The parts that serve once the member belongs to a cluster. */
interface Serving {
  readonly clusterId: string;
  readonly replica: Replica;
  readonly directory: PeerDirectory;
  readonly user: MemberPeersUser;
}

const NO_IDENTITY: SelfDescription = {
  memberId: 0,
  incarnation: "",
  boot: 0,
  damaged: false,
  versions: CLUSTER_VERSIONS,
};

export class MemberPeers implements PeerHandler {
  readonly #clock: Clock;
  readonly #log: PeerLog;
  readonly #onKeptTrace: OnKeptTrace;
  #transport: PeerTransport | null = null;
  #self: SelfDescription = NO_IDENTITY;
  #serving: Serving | null = null;
  /** Whether this member may dial others: its own address is known. */
  #dialing = false;
  #stopped: Promise<void> | null = null;
  /** The last refusal of this member by each peer. */
  readonly #refusals = new Map<number, IdentityRefusal>();
  /** Connected members whose address is not known. */
  readonly #unlisted = new Set<number>();
  #tlsProblem: string | null = null;

  private constructor(clock: Clock, log: PeerLog, onKeptTrace: OnKeptTrace) {
    this.#clock = clock;
    this.#log = log;
    this.#onKeptTrace = onKeptTrace;
  }

  /** Reads the certificates, if there are any. Rejects with the reason if they cannot be used. */
  static async open(
    clock: Clock,
    options: Omit<PeerTransportOptions, "handler">,
    onKeptTrace: OnKeptTrace = () => undefined,
  ): Promise<MemberPeers> {
    const peers = new MemberPeers(clock, options.log, onKeptTrace);
    peers.#transport = await PeerTransport.open({ ...options, handler: peers });
    return peers;
  }

  /** For the driver. */
  get transport(): Transport {
    return new MemberTransport(this.#openTransport);
  }

  /** Current problems, for people. */
  get alarms(): string[] {
    const alarms = [...this.#refusals].map(([peer, refusal]) => `member ${peer} refuses this one: ${refusal}`);
    return this.#tlsProblem === null ? alarms : [...alarms, `the certificates cannot be used: ${this.#tlsProblem}`];
  }

  /** The certificate that this member presents now; null without TLS. */
  get certificate(): PeerCertificate | null {
    const set = this.#openTransport.tlsSet;
    return set === null
      ? null
      : {
          serial: set.certificate.serialNumber.toLowerCase(),
          expiresMs: set.certificate.validToDate.getTime(),
          trustedCas: set.authorities.map(({ fingerprint256 }) => fingerprint256.replaceAll(":", "").toLowerCase()),
        };
  }

  /** host:port of all members but this one, for requests to them. */
  get addresses(): string[] {
    const members = this.#serving?.directory.dialed ?? [];
    return members.filter(({ memberId }) => memberId !== this.#self.memberId).map(({ address }) => address);
  }

  /** Whether a member is connected whose address is not known: this member lags too far behind to dial it. */
  get hasUnlisted(): boolean {
    return this.#unlisted.size > 0;
  }

  /** Accepts connections; resolves with the port. Rejects if the port is not available. */
  listen(host: string, port: number): Promise<number> {
    return this.#openTransport.listen(host, port);
  }

  /**
   * Asks the process at the address for a slot, or for the members. Rejects with a ConnectionError if it does not
   * answer.
   */
  requestJoin(address: string, joining: JoiningProcess): Promise<JoinAnswer> {
    if (this.#stopped !== null) {
      return Promise.reject(new ConnectionError("this member stops"));
    }
    const { clusterId } = joining;
    const request = { ...joining, clusterId: clusterId === "" ? null : clusterId, versions: CLUSTER_VERSIONS };
    return this.#openTransport.askToJoin(address, request);
  }

  /** This member belongs to a cluster; `replica` receives what arrives. */
  serve(self: MemberSelf, replica: Replica, user: MemberPeersUser): void {
    const { clusterId, memberId, incarnation, boot, damaged } = self;
    this.#self = { memberId, incarnation, boot, damaged, versions: CLUSTER_VERSIONS };
    this.#serving = { clusterId, replica, directory: new PeerDirectory(replica), user };
    this.#setPeers();
  }

  /** Dials other members from now on. */
  dial(): void {
    this.#dialing = true;
    this.#setPeers();
  }

  /** Takes the list of members that another member has sent. */
  onMemberList(list: MemberList): void {
    this.#serving?.directory.onMemberList(list);
    this.#setPeers();
  }

  /** The list of members in the applied state may have changed, and is durable. */
  onMembers(): void {
    this.#serving?.directory.onRecordDurable();
    this.#setPeers();
  }

  /** The damage is healed. Reconnects to all others, so that new handshakes inform them. */
  onDataRecovered(): void {
    this.#self = { ...this.#self, damaged: false };
    if (this.#stopped === null && this.#dialing) {
      this.#openTransport.setPeers([]);
      this.#setPeers();
    }
  }

  /** Ends all connections. The driver may still call `send`; its frames go nowhere. */
  stop(): Promise<void> {
    this.#stopped ??= this.#openTransport.stop();
    return this.#stopped;
  }

  view(): AcceptorView {
    const serving = this.#serving;
    return {
      clusterId: serving?.clusterId ?? null,
      self: this.#self,
      certainIndex: serving?.directory.certainIndex ?? 0,
      clusterVersion: serving?.directory.cluster?.version ?? CLUSTER_VERSIONS.min,
      incarnationOf: (memberId) => serving?.directory.incarnationOf(memberId),
    };
  }

  onConnected(peer: number, connected: ConnectedPeer): void {
    this.#refusals.delete(peer);
    this.#serving?.replica.onConnected(peer, connected);
    if (this.#serving?.directory.mayBeMember(peer) === true) {
      this.#unlisted.add(peer);
      this.#serving.user.onUnlisted();
    }
  }

  onUnreachable(peer: number): void {
    this.#serving?.replica.onUnreachable(peer);
  }

  onGone(peer: number): void {
    this.#serving?.replica.onGone(peer);
  }

  onUnsent(peer: number, kind: LinkKind, frames: readonly Frame[]): void {
    this.#serving?.replica.onUnsent(peer, kind, frames);
  }

  onFrame(peer: number, kind: LinkKind, frame: Frame): void {
    if (frame.type === FrameType.KeptTrace) {
      this.#onKeptTrace(decodeKeptTrace(frame.body));
    } else {
      this.#serving?.replica.onFrame(peer, kind, frame);
    }
  }

  /** Sends the trace to the member, or to all others (null), as far as they know this frame. It may be lost. */
  sendKeptTrace(to: number | null, kept: KeptTrace): void {
    if (this.#serving === null || this.#stopped !== null) {
      return;
    }
    const transport = this.#openTransport;
    const body = encodeKeptTrace(kept);
    for (const { memberId } of this.#serving.directory.dialed) {
      const isMeant = to === null || memberId === to;
      if (isMeant && transport.protocolOf(memberId, "log") >= KEPT_TRACE_PROTOCOL) {
        transport.offer(memberId, "log", FrameType.KeptTrace, body);
      }
    }
    transport.flush();
  }

  onSnapshot(peer: number, receiver: SnapshotReceiver): void {
    const incoming = new ReceivedSnapshot(receiver);
    if (this.#serving === null) {
      incoming.close();
    } else {
      this.#serving.replica.onSnapshot(peer, incoming);
    }
  }

  onRefused(peer: number, refusal: IdentityRefusal): void {
    this.#refusals.set(peer, refusal);
    if (refusal === "REMOVED") {
      this.#serving?.user.onRemoved(peer);
    } else if (refusal === "STALE") {
      this.#serving?.user.onStale(peer);
    } else if (refusal === "WRONG_CLUSTER") {
      this.#serving?.user.onWrongCluster();
    } else if (refusal === "VERSION" && this.#isRefusedByAll("VERSION")) {
      this.#serving?.user.onTooOld();
    }
  }

  async onJoin(request: JoinRequest): Promise<JoinAnswer> {
    if (this.#serving === null) {
      return { result: "NO_CLUSTER" };
    }
    const answer = await answerJoin(this.#serving, this.#clock, request);
    if (request.memberId !== 0 && answer.result === "ACCEPTED") {
      this.#serving.directory.move(request.memberId, request.endpoints.peerEndpoint);
      this.#setPeers();
    }
    return answer;
  }

  onTlsProblem(problem: string | null): void {
    this.#tlsProblem = problem;
    if (problem !== null) {
      this.#log.warn({ problem }, "the certificates that were read last stay in use");
    }
  }

  get #openTransport(): PeerTransport {
    if (this.#transport === null) {
      throw new Error("the transport is opened with its handler");
    }
    return this.#transport;
  }

  #isRefusedByAll(refusal: IdentityRefusal): boolean {
    const members = this.#serving?.directory.known.members ?? [];
    const others = members.filter(({ memberId }) => memberId !== this.#self.memberId);
    return others.length > 0 && others.every(({ memberId }) => this.#refusals.get(memberId) === refusal);
  }

  #setPeers(): void {
    if (this.#serving === null || !this.#dialing || this.#stopped !== null) {
      return;
    }
    const { directory } = this.#serving;
    const members = directory.dialed;
    const ids = new Set(members.map(({ memberId }) => memberId));
    for (const peer of this.#refusals.keys()) {
      if (!ids.has(peer)) {
        this.#refusals.delete(peer);
      }
    }
    for (const peer of this.#unlisted) {
      if (!directory.mayBeMember(peer)) {
        this.#unlisted.delete(peer);
      }
    }
    this.#openTransport.setPeers(members);
  }
}
