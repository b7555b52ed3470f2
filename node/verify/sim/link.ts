/** The connection of a simulated process to another member for one kind of frame: it dials, and dials again. */

import type { Frame, IdentityRefusal, LinkKind, PeerMember } from "../../src/peers/index.ts";
import { Connection } from "./connection.ts";
import type { Network } from "./network.ts";
import type { Accepted, DialingProcess } from "./peer-process.ts";

/** The timeout of a dial, and the first and last pause between dials, each ±50 %. */
const DIAL_MS = 3_000;
const BACKOFF_MS_MIN = 50;
const BACKOFF_MS_MAX = 2_000;

export class Link {
  readonly member: PeerMember;
  readonly kind: LinkKind;
  readonly #network: Network;
  readonly #owner: DialingProcess;
  #connection: Connection | null = null;
  /** The boot at the other end. */
  #boot = 0;
  #backoffMs = BACKOFF_MS_MIN;
  /** Number of the present dial or pause; a newer one cancels an older one. */
  #attempt = 0;
  #isDialing = false;
  #isClosed = false;

  constructor(network: Network, owner: DialingProcess, member: PeerMember, kind: LinkKind) {
    this.#network = network;
    this.#owner = owner;
    this.member = member;
    this.kind = kind;
    this.#dial();
  }

  /** The verified connection. */
  get connection(): Connection | null {
    return this.#connection;
  }

  /** Dials without a further wait. */
  dialNow(): void {
    if (this.#connection === null && !this.#isDialing && !this.#isClosed) {
      this.#backoffMs = BACKOFF_MS_MIN;
      this.#dial();
    }
  }

  /** The member at the other end has restarted: the connection to its former boot ends. */
  leaveBootsBelow(boot: number): void {
    if (this.#connection !== null && this.#boot < boot) {
      this.#connection.closeBy(this.#owner, "the member has restarted");
    }
  }

  close(reason: string): void {
    this.#isClosed = true;
    this.#attempt++;
    this.#connection?.closeBy(this.#owner, reason);
  }

  #dial(): void {
    const owner = this.#owner;
    const { memberId, incarnation } = this.member;
    const attempt = ++this.#attempt;
    this.#isDialing = true;
    const hello = owner.hello(this.kind, this.member);
    const inOwner = (callback: () => void): void => {
      owner.loop.arrive(() => {
        if (this.#attempt === attempt) {
          callback();
        }
      });
    };
    let dialed: Connection | null = null;
    this.#network.heap.after(DIAL_MS, () => {
      inOwner(() => {
        if (this.#isDialing) {
          dialed?.closeBy(owner, "it was not answered");
          this.#retry();
        }
      });
    });
    const answer = (callback: () => void): void => {
      this.#network.pass(
        memberId,
        owner.memberId,
        () => inOwner(callback),
        () => undefined,
      );
    };
    const coverage = (): void => {
      if (owner.loop.isDead) {
        return;
      }
      const target = this.#network.processOf(memberId);
      if (target === undefined || target.loop.isDead) {
        // No process listens there. The dialer learns that at once.
        answer(() => {
          if (this.kind === "control") {
            owner.notifyGone(memberId);
          }
          this.#retry();
        });
        return;
      }
      const connection: Connection = new Connection(
        this.#network,
        owner,
        target,
        `${owner.memberId}>${memberId} ${this.kind}`,
        {
          onFrame: (frame) => target.onFrame(owner.memberId, this.kind, frame),
          onDialerLost: (unsent) => this.#onLost(connection, unsent),
          onAcceptorLost: () => target.onIncomingLost(connection),
        },
      );
      dialed = connection;
      target.loop.arrive(() => {
        const refusal = target.onHello(hello, connection);
        if (refusal !== null) {
          connection.closeBy(target, refusal);
          answer(() => this.#onRefused(refusal));
          return;
        }
        const { boot, isDamaged: damaged } = target;
        answer(() => this.#onAnswer(connection, { incarnation, boot, damaged, versions: null }));
      });
    };
    this.#network.pass(owner.memberId, memberId, coverage, () => undefined);
  }

  #onRefused(refusal: IdentityRefusal): void {
    this.#owner.onRefused(this.member.memberId, refusal);
    this.#retry();
  }

  #onAnswer(connection: Connection, accepted: Accepted): void {
    if (!connection.isOpenAtDialer) {
      this.#retry();
      return;
    }
    if (!this.#owner.isCurrent(accepted)) {
      connection.closeBy(this.#owner, "another boot of the member was seen since");
      this.#retry();
      return;
    }
    this.#isDialing = false;
    this.#backoffMs = BACKOFF_MS_MIN;
    this.#connection = connection;
    this.#boot = accepted.boot;
    this.#owner.onUsable(this.member, accepted);
  }

  #onLost(connection: Connection, unsent: readonly Frame[]): void {
    if (this.#connection !== connection) {
      return;
    }
    this.#connection = null;
    this.#owner.onLinkLost(this.member, this.kind, unsent);
    if (!this.#isDialing) {
      this.#retry();
    }
  }

  #retry(): void {
    this.#isDialing = false;
    if (this.#isClosed) {
      return;
    }
    const attempt = ++this.#attempt;
    const pauseMs = this.#backoffMs * this.#network.random.between(0.5, 1.5);
    this.#backoffMs = Math.min(2 * this.#backoffMs, BACKOFF_MS_MAX);
    this.#network.heap.after(pauseMs, () => {
      this.#owner.loop.arrive(() => {
        if (this.#attempt === attempt) {
          this.#dial();
        }
      });
    });
  }
}
