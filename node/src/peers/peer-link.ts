/**
 * The connection that this member keeps to one other member for one kind of frames. The link dials, and dials again.
 *
 * It exists as long as the other member is listed. It takes frames only while a connection is verified. The link renews
 * a connection when certificates change or grow old (P50). The next connection is open before it introduces itself. It
 * does that only when the other side has read everything that the old one had taken, so that a renewal loses nothing.
 */

import type { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";
import { Backoff } from "./backoff.ts";
import { Dial } from "./dial.ts";
import { type Frame, FrameError } from "./frame.ts";
import type { FrameConnection } from "./frame-connection.ts";
import { FrameType, type LinkKind } from "./frame-type.ts";
import { ANSWER_BYTES, type Answer, decodeAnswer, type HelloRefusal } from "./hello.ts";
import type { PeerMember } from "./join-codec.ts";
import type { PeerEnvironment } from "./peer-environment.ts";
import type { ConnectedPeer } from "./peer-handler.ts";

export type AcceptedAnswer = Answer & { readonly ok: true };

export interface LinkUser {
  /** The first frame of the next connection. */
  hello(link: PeerLink): Uint8Array;
  /** The IP address that the member has announced; null if it has announced none. */
  dialHint(link: PeerLink): string | null;
  /** The peer has accepted. Returns what is known about it now, or null if the link must not use the connection. */
  onAccepted(link: PeerLink, accepted: AcceptedAnswer): ConnectedPeer | null;
  /** The link takes frames. */
  onUsable(link: PeerLink, connected: ConnectedPeer): void;
  onRefused(link: PeerLink, refusal: HelloRefusal): void;
  /** The verified connection has ended and left these frames unsent. */
  onLost(link: PeerLink, unsent: readonly Frame[], reason: string): void;
  /** A dial has failed. `isRefused`: nothing listens at the peer's address. */
  onFailed(link: PeerLink, reason: string, isRefused: boolean): void;
}

/** A connection is dialed again before this share of both certificates' lifetimes is over (P50). */
const CERTIFICATE_LIFE_SHARE = 0.8;
/**
 * The exact moment is drawn at random from this last share of that time, so that not all connections are dialed at
 * once.
 */
const RENEWAL_JITTER_SHARE = 0.1;

export class PeerLink {
  readonly kind: LinkKind;
  readonly #environment: PeerEnvironment;
  readonly #user: LinkUser;
  readonly #backoff: Backoff;
  #member: PeerMember;
  #connection: FrameConnection | null = null;
  /** The boot at the other end of the connection, and the version of the peer protocol of both ends. */
  #boot = 0;
  #protocol = 0;
  #dial: Dial | null = null;
  /**
   * Whether the next dial uses the address that the member has announced. Dials by announced address and by name
   * alternate.
   */
  #usesHint = true;
  #cancelRetry: (() => void) | null = null;
  /** Lets the next connection introduce itself once this one is over. */
  #releaseNext: (() => void) | null = null;
  #cancelRenewal: () => void = () => {};
  #closed = false;

  constructor(environment: PeerEnvironment, member: PeerMember, kind: LinkKind, user: LinkUser) {
    const { backoffMsMin, backoffMsMax } = environment.limits;
    this.kind = kind;
    this.#environment = environment;
    this.#user = user;
    this.#backoff = new Backoff(backoffMsMin, backoffMsMax, environment.random);
    this.#member = member;
    this.#startDial();
  }

  get member(): PeerMember {
    return this.#member;
  }

  /** Whether the link takes frames: a connection is verified. */
  get isUsable(): boolean {
    return this.#connection?.isOpen ?? false;
  }

  /** The version of the peer protocol of the connection; 0 without a verified connection. */
  get protocol(): number {
    return this.isUsable ? this.#protocol : 0;
  }

  /** Dials the member at this address from now on; a working connection stays. */
  moveTo(member: PeerMember): void {
    const isMoved = member.address !== this.#member.address;
    this.#member = member;
    if (isMoved) {
      this.redial();
    }
  }

  /** Queues a frame; returns false if the link certainly did not take it. */
  send(type: number, body: Uint8Array): boolean {
    return this.#connection?.send(type, body) ?? false;
  }

  flush(): void {
    this.#connection?.flush();
  }

  /** Ends the wait before the next dial, because there is a sign that the member is up. */
  dialNow(): void {
    if (this.#connection === null && this.#dial === null && !this.#closed) {
      this.#cancelRetry?.();
      this.#cancelRetry = null;
      this.#backoff.reset();
      this.#usesHint = true;
      this.#startDial();
    }
  }

  /** The member has announced its address: gives up a dial to another one. */
  redial(): void {
    if (this.#connection === null) {
      this.#dial?.cancel();
      this.#dial = null;
      this.dialNow();
    }
  }

  /** Ends the connection if it leads to an earlier boot of the member, and dials again at once. */
  leaveBootsBelow(boot: number): void {
    if (this.#connection !== null && this.#boot < boot) {
      this.#connection.end("the member has restarted");
      this.dialNow();
    }
  }

  /** Renews the connection at a random moment within this many milliseconds. */
  renewWithin(limitMs: number): void {
    this.#renewAfter(limitMs * this.#environment.random());
  }

  /** Ends everything. The user receives the remaining unsent frames, and no further call. */
  close(reason: string): void {
    this.#closed = true;
    this.#dial?.cancel();
    this.#cancelRetry?.();
    this.#connection?.end(reason);
  }

  #startDial(): void {
    const { limits } = this.#environment;
    const dialHint = this.#usesHint ? this.#user.dialHint(this) : null;
    this.#usesHint = !this.#usesHint;
    const plan = {
      address: this.#member.address,
      dialHint,
      first: { type: FrameType.Hello, body: this.#user.hello(this) },
      answerType: FrameType.Answer,
      answerBytesMax: ANSWER_BYTES,
      limitMs: limits.dialMs,
      beforeFirst: (go: () => void) => this.#finishLast(go),
    };
    this.#dial = new Dial(this.#environment, plan, {
      onAnswer: (connection, body) => this.#onAnswer(connection, decodeAnswer(body)),
      onFailed: (reason, isRefused) => {
        this.#user.onFailed(this, reason, isRefused);
        // An older connection that sends nothing more, and that the other side does not close, is useless.
        if (!this.isUsable) {
          this.#connection?.end("it could not be renewed");
        }
        this.#retry();
      },
    });
  }

  /**
   * When the other side sees a newer connection of a source, it ends the older one and drops everything unread. So this
   * waits until the older one is over.
   */
  #finishLast(go: () => void): void {
    if (this.#connection === null) {
      go();
      return;
    }
    this.#releaseNext = go;
    this.#connection.finish();
  }

  #onAnswer(connection: FrameConnection, answer: Answer): void {
    if (!answer.ok) {
      connection.end("the member has refused the handshake");
      this.#user.onRefused(this, answer.refusal);
      this.#retry();
      return;
    }
    const connected = this.#user.onAccepted(this, answer);
    if (connected === null) {
      connection.end("another boot of the member was seen since");
      this.#retry();
      return;
    }
    this.#dial = null;
    this.#backoff.reset();
    this.#adopt(connection, answer);
    this.#user.onUsable(this, connected);
  }

  #adopt(connection: FrameConnection, { boot, protocol }: AcceptedAnswer): void {
    this.#connection = connection;
    this.#boot = boot;
    this.#protocol = protocol;
    connection.carry(
      {
        onFrame: ({ type }) => {
          throw new FrameError(`a frame of type ${type} does not belong here`);
        },
        onEnded: (reason) => this.#onEnded(connection, reason),
      },
      // Only pings come back on this connection.
      () => false,
    );
    this.#renewBeforeExpiry(connection);
  }

  #onEnded(connection: FrameConnection, reason: string): void {
    if (this.#connection !== connection) {
      return;
    }
    this.#connection = null;
    this.#cancelRenewal();
    this.#user.onLost(this, connection.takeUnsent(), reason);
    const releaseNext = this.#releaseNext;
    this.#releaseNext = null;
    releaseNext?.();
    if (this.#dial === null) {
      this.#retry();
    }
  }

  /** Dials again after a delay. A connection that is due for renewal stays while it works. */
  #retry(): void {
    this.#dial = null;
    if (this.#closed) {
      return;
    }
    this.#cancelRetry?.();
    this.#cancelRetry = this.#environment.clock.after(this.#backoff.next(), () => {
      this.#cancelRetry = null;
      this.#startDial();
    });
  }

  #renewAfter(delayMs: number): void {
    this.#cancelRenewal();
    if (this.#connection === null || this.#closed) {
      return;
    }
    this.#cancelRenewal = this.#environment.clock.after(delayMs, () => {
      if (this.#dial === null && this.#cancelRetry === null) {
        this.#startDial();
      }
    });
  }

  #renewBeforeExpiry(connection: FrameConnection): void {
    const { tls, clock, random, limits } = this.#environment;
    this.#cancelRenewal();
    if (tls === null || !(connection.socket instanceof TLSSocket)) {
      return;
    }
    const other = connection.socket.getPeerX509Certificate();
    const own = tls.files.set.certificate;
    const nowMs = clock.wallMs();
    const delays = [own, other].flatMap((certificate) => {
      return certificate === undefined ? [] : [renewalDelayMs(certificate, nowMs)];
    });
    const delayMs = Math.min(...delays) * (1 - RENEWAL_JITTER_SHARE * random());
    // A certificate that has expired by this clock, but not by the other side's, must not cause one dial after another.
    this.#renewAfter(Math.max(delayMs, limits.backoffMsMax));
  }
}

/** How long a connection may use the certificate: until 80 % of its lifetime, and after that until its end. */
function renewalDelayMs(certificate: X509Certificate, nowMs: number): number {
  const fromMs = certificate.validFromDate.getTime();
  const toMs = certificate.validToDate.getTime();
  const dueMs = fromMs + (toMs - fromMs) * CERTIFICATE_LIFE_SHARE;
  return Math.max(0, (nowMs < dueMs ? dueMs : toMs) - nowMs);
}
