/**
 * A member towards the other members: what it tells of itself, whom it dials, and who gets what arrives.
 *
 * Before it belongs to a cluster it refuses everybody, and may ask for a slot. Afterwards it dials the members that its
 * directory names, and the driver takes what they send. What peers say against this member is kept as alarms.
 */

import {
  type AcceptorView,
  type ConnectedPeer,
  ConnectionError,
  type Frame,
  type IdentityRefusal,
  type JoinAnswer,
  type JoinRequest,
  type LinkKind,
  type PeerHandler,
  type PeerLog,
  PeerTransport,
  type PeerTransportOptions,
  type SelfDescription,
  type SnapshotReceiver,
} from "../peers/index.ts";
import { CLUSTER_VERSIONS, type MemberAddress } from "../state/index.ts";
import type { Clock } from "./clock.ts";
import { answerJoin } from "./join-answer.ts";
import { MemberTransport, ReceivedSnapshot } from "./member-transport.ts";
import { PeerDirectory, type Told } from "./peer-directory.ts";
import type { Replica } from "./replica.ts";
import type { Transport } from "./transport.ts";

/** What concerns the life of the member. Called in events of their own. */
export interface MemberPeersUser {
  /** A verified peer says that this member was removed. */
  onRemoved(peer: number): void;
  /** A verified peer has met a later start of this data directory. */
  onStale(peer: number): void;
  /** All other members refuse this binary. */
  onTooOld(): void;
  /** Somebody is connected of whom no address is known. */
  onUnlisted(): void;
  /** A member belongs to another cluster now. */
  onWrongCluster(): void;
}

/** Who this member is, once it belongs to a cluster. */
export interface MemberSelf {
  readonly clusterId: string;
  readonly memberId: number;
  /** 32 hexadecimal digits. */
  readonly incarnation: string;
  readonly boot: number;
  readonly damaged: boolean;
}

/** What a member shows to others, and whom it trusts. */
export interface PeerCertificate {
  /** Lower-case hexadecimal digits. */
  readonly serial: string;
  /** When it is over, on the wall clock. */
  readonly expiresMs: number;
  /** SHA-256 fingerprints of authorities, in lower-case hexadecimal digits. */
  readonly trustedCas: readonly string[];
}

/** What a process says of itself when it asks to join. */
export interface Asker {
  readonly clusterName: string;
  readonly clusterId: string;
  readonly memberId: number;
  readonly name: string;
  readonly incarnation: string;
  readonly endpoints: MemberAddress;
}

/** What serves once the member belongs to a cluster. */
interface Serving {
  readonly clusterId: string;
  readonly replica: Replica;
  readonly directory: PeerDirectory;
  readonly user: MemberPeersUser;
}

const NOBODY: SelfDescription = { memberId: 0, incarnation: "", boot: 0, damaged: false, versions: CLUSTER_VERSIONS };

export class MemberPeers implements PeerHandler {
  readonly #clock: Clock;
  readonly #log: PeerLog;
  #transport: PeerTransport | null = null;
  #self: SelfDescription = NOBODY;
  #serving: Serving | null = null;
  /** Whether others may be dialed: this member says who it is and where. */
  #dialing = false;
  #stopped: Promise<void> | null = null;
  /** What peers said last when they refused this member. */
  readonly #refusals = new Map<number, IdentityRefusal>();
  /** Connected members of whom no address is known. */
  readonly #unlisted = new Set<number>();
  #tlsProblem: string | null = null;

  private constructor(clock: Clock, log: PeerLog) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Reads the certificates, if there are any. Rejects with what is wrong with them. */
  static async open(clock: Clock, options: Omit<PeerTransportOptions, "handler">): Promise<MemberPeers> {
    const peers = new MemberPeers(clock, options.log);
    peers.#transport = await PeerTransport.open({ ...options, handler: peers });
    return peers;
  }

  /** For the driver. */
  get transport(): Transport {
    return new MemberTransport(this.#opened);
  }

  /** What is wrong, for people. */
  get alarms(): string[] {
    const alarms = [...this.#refusals].map(([peer, refusal]) => `member ${peer} refuses this one: ${refusal}`);
    return this.#tlsProblem === null ? alarms : [...alarms, `the certificates cannot be used: ${this.#tlsProblem}`];
  }

  /** The certificate that is shown to others now; null without TLS. */
  get certificate(): PeerCertificate | null {
    const set = this.#opened.tlsSet;
    return set === null
      ? null
      : {
          serial: set.certificate.serialNumber.toLowerCase(),
          expiresMs: set.certificate.validToDate.getTime(),
          trustedCas: set.authorities.map(({ fingerprint256 }) => fingerprint256.replaceAll(":", "").toLowerCase()),
        };
  }

  /** Where the members are, to ask them: host:port of all but this one. */
  get addresses(): string[] {
    const members = this.#serving?.directory.dialed ?? [];
    return members.filter(({ memberId }) => memberId !== this.#self.memberId).map(({ address }) => address);
  }

  /** Whether somebody is connected of whom no address is known: this member lags behind too far to answer him. */
  get hasUnlisted(): boolean {
    return this.#unlisted.size > 0;
  }

  /** Accepts connections; resolves with the port. Rejects if it cannot be had. */
  listen(host: string, port: number): Promise<number> {
    return this.#opened.listen(host, port);
  }

  /** Asks the process at an address for a slot, or for the members. Rejects with a ConnectionError without an answer. */
  ask(address: string, asker: Asker): Promise<JoinAnswer> {
    if (this.#stopped !== null) {
      return Promise.reject(new ConnectionError("this member stops"));
    }
    const { clusterId } = asker;
    const request = { ...asker, clusterId: clusterId === "" ? null : clusterId, versions: CLUSTER_VERSIONS };
    return this.#opened.askToJoin(address, request);
  }

  /** This member belongs to a cluster; `replica` takes what arrives. */
  serve(self: MemberSelf, replica: Replica, user: MemberPeersUser): void {
    const { clusterId, memberId, incarnation, boot, damaged } = self;
    this.#self = { memberId, incarnation, boot, damaged, versions: CLUSTER_VERSIONS };
    this.#serving = { clusterId, replica, directory: new PeerDirectory(replica), user };
    this.#setPeers();
  }

  /** Others may be dialed from now on. */
  dial(): void {
    this.#dialing = true;
    this.#setPeers();
  }

  /** Another member has told who there is. */
  learn(told: Told): void {
    this.#serving?.directory.learn(told);
    this.#setPeers();
  }

  /** The members that the driver has applied may have changed, and are durable as they are now. */
  onMembers(): void {
    this.#serving?.directory.onRecordDurable();
    this.#setPeers();
  }

  /** The damage is healed; all others are told, by connections made anew. */
  onHealed(): void {
    this.#self = { ...this.#self, damaged: false };
    if (this.#stopped === null && this.#dialing) {
      this.#opened.setPeers([]);
      this.#setPeers();
    }
  }

  /** Ends all connections. The driver may still send, to nobody. */
  stop(): Promise<void> {
    this.#stopped ??= this.#opened.stop();
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
    this.#serving?.replica.onFrame(peer, kind, frame);
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

  get #opened(): PeerTransport {
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
    this.#opened.setPeers(members);
  }
}
