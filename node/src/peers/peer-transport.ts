/**
 * The connections between this member and all others: which members are connected, and the frames to and from them.
 *
 * Each member dials each other one, and a connection carries frames from the dialer to the other. Every delivered frame
 * comes from a member whose identity was verified, over its current connection of that kind, in order and at most once.
 * Frames may be lost, and only the end of a connection reveals that. The transport does not know the meaning of frames.
 */

import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { invariant } from "../primitives/index.ts";
import { Acceptor } from "./acceptor.ts";
import { ConnectionError } from "./connection-error.ts";
import { Dial } from "./dial.ts";
import type { FrameConnection } from "./frame-connection.ts";
import { type ConnectionKind, carries, FrameType, LINK_KINDS, type LinkKind } from "./frame-type.ts";
import {
  commonProtocol,
  encodeAnswer,
  encodeHello,
  type Hello,
  type HelloRefusal,
  type PeerIdentity,
  PROTOCOL_VERSIONS,
  validateHello,
} from "./hello.ts";
import { type IncomingConnection, IncomingConnections } from "./incoming.ts";
import { decodeJoinAnswer, encodeJoin, type JoinAnswer, type JoinRequest, type PeerMember } from "./join-codec.ts";
import { DEFAULT_PEER_LIMITS, type PeerLimits } from "./limits.ts";
import { type PeerClock, systemPeerClock } from "./peer-clock.ts";
import type { PeerEnvironment } from "./peer-environment.ts";
import type { ConnectedPeer, PeerHandler, PeerLog } from "./peer-handler.ts";
import { type AcceptedAnswer, type LinkUser, PeerLink } from "./peer-link.ts";
import { SeenBoots } from "./seen-boots.ts";
import { SnapshotReceiver } from "./snapshot-receiver.ts";
import { SnapshotSender } from "./snapshot-sender.ts";
import { type TlsFilePaths, TlsFiles, type TlsSet } from "./tls-files.ts";

export interface PeerTransportOptions {
  readonly handler: PeerHandler;
  readonly log: PeerLog;
  /** Accepted join tokens, read at each use; the member presents the first. Without tokens it accepts no connection. */
  readonly joinTokens: () => readonly string[];
  /** Null for plain TCP, which is safe only on a network that no outsider can reach. */
  readonly tls: {
    readonly files: TlsFilePaths;
    /** A name that certificates must have for members whose address is not known yet; may begin with "*.". */
    readonly joinNamePattern: string;
  } | null;
  readonly limits?: Partial<PeerLimits>;
  readonly clock?: PeerClock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  readonly lookup?: LookupFunction;
  /** An IP address at which others reach this member while its name is not known everywhere. */
  readonly dialHint?: string | null;
}

export class PeerTransport {
  readonly #environment: PeerEnvironment;
  readonly #acceptor: Acceptor;
  readonly #seenBoots = new SeenBoots();
  readonly #incoming = new IncomingConnections();
  /** By incarnation: the IP address that a member has announced. */
  readonly #dialHints = new Map<string, string>();
  /** By member id, then by kind. */
  readonly #links = new Map<number, Map<LinkKind, PeerLink>>();
  /** Links that have taken frames since the last flush. A link that was lost since then has nothing to send. */
  readonly #unflushed: PeerLink[] = [];
  /** Peers for which the handler is about to receive `onUnreachable`. */
  readonly #unreachable = new Set<number>();
  readonly #snapshots = new Set<SnapshotSender>();
  readonly #joins = new Set<Dial>();
  #stopped = false;

  private constructor(environment: PeerEnvironment) {
    this.#environment = environment;
    this.#acceptor = new Acceptor(environment, {
      addressOf: (memberId) => this.#links.get(memberId)?.get("control")?.member.address,
      onHello: (connection, hello) => this.#onHello(connection, hello),
    });
    environment.tls?.files.poll(environment.limits.tlsPollMs, {
      onChanged: (set) => {
        environment.log.info({ validTo: set.certificate.validTo }, "new certificates are in use");
        this.#acceptor.use(set);
        this.#renewLinks();
      },
      onProblem: (problem) => environment.handler.onTlsProblem(problem),
    });
  }

  /** Reads the certificate files, if there are any. Rejects with a TlsFilesError or the error of a file. */
  static async open(options: PeerTransportOptions): Promise<PeerTransport> {
    const clock = options.clock ?? systemPeerClock;
    const tls = options.tls;
    return new PeerTransport({
      clock,
      random: options.random ?? Math.random,
      log: options.log,
      lookup: options.lookup ?? systemLookup,
      dialHint: options.dialHint ?? null,
      joinTokens: options.joinTokens,
      tls: tls === null ? null : { files: await TlsFiles.open(tls.files, clock), joinNamePattern: tls.joinNamePattern },
      limits: { ...DEFAULT_PEER_LIMITS, ...options.limits },
      handler: options.handler,
    });
  }

  /** This member's current certificate and authorities; null without TLS. */
  get tlsSet(): TlsSet | null {
    return this.#environment.tls?.files.set ?? null;
  }

  /** Accepts connections; resolves with the port, which matters if `port` is 0. */
  listen(host: string, port: number): Promise<number> {
    return this.#acceptor.listen(host, port);
  }

  /**
   * Sets the current members, from the same directory that `view()` shows; this member may be among them. Dials new
   * ones, drops those that are gone, and judges again those that connected before the directory knew them.
   */
  setPeers(members: readonly PeerMember[]): void {
    invariant(!this.#stopped, "a stopped transport is not used");
    const own = this.#environment.handler.view().self.memberId;
    const others = new Map(members.filter(({ memberId }) => memberId !== own).map((one) => [one.memberId, one]));
    for (const [memberId, links] of this.#links) {
      const member = others.get(memberId);
      const link = links.get("control");
      if (member === undefined || link?.member.incarnation !== member.incarnation) {
        this.#links.delete(memberId);
        this.#closeLinks(links, "the member is no longer listed");
      }
    }
    for (const member of others.values()) {
      this.#link(member);
    }
    this.#revalidate();
    const listed = [...others.values()].map(({ incarnation }) => incarnation);
    const known = new Set([...listed, ...this.#incoming.incarnations()]);
    this.#seenBoots.retainOnly(known);
    for (const incarnation of this.#dialHints.keys()) {
      if (!known.has(incarnation)) {
        this.#dialHints.delete(incarnation);
      }
    }
  }

  /** Whether `send` would take a frame, apart from a full queue. */
  isConnected(peer: number, kind: LinkKind): boolean {
    return this.#links.get(peer)?.get(kind)?.isUsable ?? false;
  }

  /** The version of the peer protocol of the connection to the peer; 0 if `isConnected` is false. */
  protocolOf(peer: number, kind: LinkKind): number {
    return this.#links.get(peer)?.get(kind)?.protocol ?? 0;
  }

  /**
   * Queues a frame, which leaves with the next `flush`. Returns false if no byte of it reached a socket or ever will:
   * there is no verified connection, or its queue is full, which `onUnreachable` also reports. True promises nothing;
   * `onUnsent` names the frames that were queued and never handed to a socket. The body must not change any more.
   */
  send(peer: number, kind: LinkKind, type: number, body: Uint8Array): boolean {
    invariant(carries(kind, type), "frames travel on connections of their kind", () => `type ${type} on ${kind}`);
    if (this.offer(peer, kind, type, body)) {
      return true;
    }
    if (this.isConnected(peer, kind)) {
      this.#reportUnreachable(peer);
    }
    return false;
  }

  /** Like `send`, for a frame that the peer does not need: a full queue has no consequence. */
  offer(peer: number, kind: LinkKind, type: number, body: Uint8Array): boolean {
    const link = this.#links.get(peer)?.get(kind);
    if (link?.send(type, body) !== true) {
      return false;
    }
    if (!this.#unflushed.includes(link)) {
      this.#unflushed.push(link);
    }
    return true;
  }

  /** Hands the frames queued since the last call to the sockets, in one piece for each connection. */
  flush(): void {
    for (const link of this.#unflushed) {
      link.flush();
    }
    this.#unflushed.length = 0;
  }

  /** Opens a separate connection for a snapshot. Any failure rejects its writes. */
  openSnapshot(peer: number): SnapshotSender {
    const member = this.#links.get(peer)?.get("control")?.member;
    if (member === undefined) {
      throw new ConnectionError(`member ${peer} is not listed`);
    }
    const hello = this.#hello("snapshot", member);
    const target = { address: member.address, dialHint: this.#dialHintOf(member) };
    const sender = new SnapshotSender(this.#environment, target, hello, () => this.#snapshots.delete(sender));
    this.#snapshots.add(sender);
    return sender;
  }

  /**
   * Asks the member at an address for the slot of a name; needs neither `listen` nor `setPeers`. Rejects with a
   * ConnectionError if no answer comes; a wrong join token gets none.
   */
  askToJoin(address: string, request: JoinRequest): Promise<JoinAnswer> {
    const { limits } = this.#environment;
    return new Promise((resolve, reject) => {
      const plan = {
        address,
        dialHint: null,
        first: { type: FrameType.Join, body: encodeJoin(request, this.#joinToken()) },
        answerType: FrameType.JoinAnswer,
        answerBytesMax: limits.joinAnswerBytesMax,
        limitMs: limits.joinMs,
      };
      const dial = new Dial(this.#environment, plan, {
        onAnswer: (connection, body) => {
          const answer = decodeJoinAnswer(body);
          this.#joins.delete(dial);
          connection.end("the join request is answered");
          resolve(answer);
        },
        onFailed: (reason) => {
          this.#joins.delete(dial);
          reject(new ConnectionError(`${address} gave no answer: ${reason}`));
        },
      });
      this.#joins.add(dial);
    });
  }

  /** Ends all connections and frees the port; afterwards the handler receives no more calls. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#environment.tls?.files.stop();
    for (const links of this.#links.values()) {
      this.#closeLinks(links, "this member stops");
    }
    this.#links.clear();
    for (const dial of this.#joins) {
      dial.stop("this member stops");
    }
    for (const sender of [...this.#snapshots]) {
      sender.abort();
    }
    for (const { connection } of [...this.#incoming]) {
      connection.end("this member stops");
    }
    await this.#acceptor.stop();
  }

  #link(member: PeerMember): void {
    const links = this.#links.get(member.memberId);
    if (links !== undefined) {
      for (const link of links.values()) {
        link.moveTo(member);
      }
      return;
    }
    const user = this.#linkUser();
    this.#links.set(
      member.memberId,
      new Map(LINK_KINDS.map((kind) => [kind, new PeerLink(this.#environment, member, kind, user)])),
    );
  }

  #linkUser(): LinkUser {
    const { handler, log } = this.#environment;
    const fields = (link: PeerLink) => ({ peer: link.member.memberId, kind: link.kind, address: link.member.address });
    return {
      hello: (link) => this.#hello(link.kind, link.member),
      dialHint: ({ member }) => this.#dialHintOf(member),
      onAccepted: (link, accepted) => this.#onAccepted(link, accepted),
      onUsable: (link, connected) => {
        log.info({ ...fields(link), boot: connected.boot }, "connected to a member");
        handler.onConnected(link.member.memberId, connected);
      },
      onRefused: (link, refusal) => {
        log.warn({ ...fields(link), refusal }, "a member refuses this one");
        if (refusal !== "BUSY") {
          handler.onRefused(link.member.memberId, refusal);
        }
      },
      onLost: (link, unsent, reason) => {
        log.warn({ ...fields(link), reason }, "the connection to a member is lost");
        this.#reportUnreachable(link.member.memberId);
        if (unsent.length > 0) {
          this.#callLater(() => handler.onUnsent(link.member.memberId, link.kind, unsent));
        }
      },
      onFailed: (link, reason, isRefused) => {
        log.info({ ...fields(link), reason }, "a member could not be reached");
        if (isRefused && link.kind === "control") {
          this.#callLater(() => handler.onGone(link.member.memberId));
        }
      },
    };
  }

  /**
   * A dialed member has accepted. Returns null if a higher boot of it is known, so that this one is an earlier boot.
   */
  #onAccepted(link: PeerLink, { boot, damaged }: AcceptedAnswer): ConnectedPeer | null {
    const { memberId, incarnation } = link.member;
    if (boot < this.#seenBoots.seen(incarnation)) {
      this.#environment.log.warn({ peer: memberId, boot }, "a former boot of a member has answered");
      return null;
    }
    return { incarnation, boot, restarted: this.#recordBoot(incarnation, boot), damaged, versions: null };
  }

  #onHello(connection: FrameConnection, hello: Hello): void {
    const { handler, log } = this.#environment;
    const { source, kind } = hello;
    if (handler.view().clusterId === null) {
      this.#rejectAsTooEarly(connection, hello);
      return;
    }
    const refusal = this.#validate(hello) ?? this.#checkSnapshotCapacity(hello);
    if (refusal !== null) {
      log.warn({ peer: source.memberId, kind, refusal }, "the handshake of a member is refused");
      connection.endWith(FrameType.Answer, encodeAnswer({ ok: false, refusal }), "the handshake was refused");
      return;
    }
    const incoming = { connection, hello };
    // First older connections end, then the handler learns of the new connection, then it receives its first frame
    // (P34).
    this.#incoming.add(incoming);
    const isMoved = this.#noteDialHint(source, hello.dialHint);
    const restarted = this.#recordBoot(source.incarnation, source.boot);
    const { self } = handler.view();
    const protocol = commonProtocol(hello.protocol);
    const answer = { ok: true, protocol, boot: self.boot, damaged: self.damaged } as const;
    connection.write(FrameType.Answer, encodeAnswer(answer));
    log.info({ peer: source.memberId, kind, boot: source.boot }, "a member has connected");
    for (const link of this.#links.get(source.memberId)?.values() ?? []) {
      if (isMoved) {
        link.redial();
      } else {
        link.dialNow();
      }
    }
    const { incarnation, boot, damaged, versions } = source;
    const connected = { incarnation, boot, restarted, damaged, versions };
    if (kind === "snapshot") {
      const receiver = new SnapshotReceiver(connection, () => this.#incoming.remove(incoming));
      if (restarted) {
        handler.onConnected(source.memberId, connected);
      }
      handler.onSnapshot(source.memberId, receiver);
      return;
    }
    this.#carry(incoming, kind);
    handler.onConnected(source.memberId, connected);
  }

  /**
   * This process has received a slot, which others may know before it is durable here; or its data is lost, which it
   * reports elsewhere. Neither is a refusal: the peer tries again, at the latest when this member dials it.
   */
  #rejectAsTooEarly(connection: FrameConnection, { source, kind }: Hello): void {
    const reason = "this process does not belong to a cluster yet";
    this.#environment.log.info({ peer: source.memberId, kind, reason }, "a member has connected too early");
    connection.expectNothing({ onFrame: () => {}, onEnded: () => {} });
    connection.end(reason);
  }

  /** Delivers the frames of an accepted connection until it ends. */
  #carry(incoming: IncomingConnection, kind: LinkKind): void {
    const { handler, log } = this.#environment;
    const { connection, hello } = incoming;
    const peer = hello.source.memberId;
    connection.carry(
      {
        onFrame: (frame) => handler.onFrame(peer, kind, frame),
        onEnded: (reason) => {
          this.#incoming.remove(incoming);
          log.info({ peer, kind, reason }, "the connection of a member has ended");
        },
      },
      (type) => carries(kind, type),
    );
  }

  /** Records a boot and ends everything of a lower one. Returns whether there was a lower one. */
  #recordBoot(incarnation: string, boot: number): boolean {
    const restarted = this.#seenBoots.note(incarnation, boot);
    if (restarted) {
      this.#incoming.endBootsBelow(incarnation, boot);
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

  #validate(hello: Hello): HelloRefusal | null {
    return validateHello(hello, this.#environment.handler.view(), this.#seenBoots.seen(hello.source.incarnation));
  }

  /** A snapshot may replace an older one of its source, or start if few enough are incoming. */
  #checkSnapshotCapacity({ kind, source }: Hello): HelloRefusal | null {
    const isNew = kind === "snapshot" && this.#incoming.get(source.incarnation, kind) === undefined;
    return isNew && this.#incoming.count(kind) >= this.#environment.limits.incomingSnapshotsMax ? "BUSY" : null;
  }

  #revalidate(): void {
    for (const { connection, hello } of [...this.#incoming]) {
      const refusal = this.#validate(hello);
      if (refusal !== null) {
        connection.end(`its member does not belong here any more: ${refusal}`);
      }
    }
  }

  #hello(kind: ConnectionKind, target: PeerIdentity): Uint8Array {
    const { clusterId, self } = this.#environment.handler.view();
    invariant(clusterId !== null, "only members of a cluster have peers");
    const { memberId, incarnation, boot, damaged, versions } = self;
    return encodeHello({
      protocol: PROTOCOL_VERSIONS,
      kind,
      clusterId,
      source: { memberId, incarnation, boot, damaged, versions },
      target: { memberId: target.memberId, incarnation: target.incarnation },
      joinToken: this.#joinToken(),
      dialHint: this.#environment.dialHint,
    });
  }

  /** Returns whether the member announces a different address than before. */
  #noteDialHint({ incarnation }: PeerIdentity, dialHint: string | null): boolean {
    if (dialHint === null) {
      this.#dialHints.delete(incarnation);
      return false;
    }
    const isNew = this.#dialHints.get(incarnation) !== dialHint;
    this.#dialHints.set(incarnation, dialHint);
    return isNew;
  }

  #dialHintOf({ incarnation }: PeerIdentity): string | null {
    return this.#dialHints.get(incarnation) ?? null;
  }

  #joinToken(): string {
    return this.#environment.joinTokens()[0] ?? "";
  }

  #renewLinks(): void {
    for (const links of this.#links.values()) {
      for (const link of links.values()) {
        link.renewWithin(this.#environment.limits.tlsRenewMs);
      }
    }
  }

  #closeLinks(links: ReadonlyMap<LinkKind, PeerLink>, reason: string): void {
    for (const link of links.values()) {
      link.close(reason);
    }
  }

  #reportUnreachable(peer: number): void {
    if (!this.#unreachable.has(peer)) {
      this.#unreachable.add(peer);
      this.#callLater(() => {
        this.#unreachable.delete(peer);
        this.#environment.handler.onUnreachable(peer);
      });
    }
  }

  /** Calls the handler after the current call of the transport, or the current event, is over. */
  #callLater(call: () => void): void {
    queueMicrotask(() => {
      if (!this.#stopped) {
        call();
      }
    });
  }
}
