/**
 * A snapshot on its way from one simulated process to another, on a connection of its own.
 *
 * The reader sets the pace of the sender, and confirms the end. When the stream breaks off, each side that still uses
 * it learns of that.
 */

import { ConnectionError, type Frame, FrameType } from "../../src/peers/index.ts";
import type { IncomingSnapshot, OutgoingSnapshot } from "../../src/replica/index.ts";
import type { ConnectionEnd } from "./connection.ts";
import type { Network } from "./network.ts";
import type { PassingSnapshot, PeerProcess } from "./peer-process.ts";
import { passPoint } from "./process-loop.ts";

type Done = (error: Error | null) => void;
type ReadDone = (error: Error | null, frame: Frame | null) => void;

/** Unread frames before the sender waits; one more is on its way. */
const UNREAD_MAX = 2;
/** The bit that is flipped in a damaged byte. */
const SPOILT_BIT = 0x10;

export class SnapshotStream implements OutgoingSnapshot, PassingSnapshot {
  readonly boot: number;
  readonly #network: Network;
  readonly #from: PeerProcess;
  #to: PeerProcess | null = null;
  #isAccepted = false;
  /** Null = the end. */
  #written: { readonly frame: Frame | null; readonly done: Done } | null = null;
  #isInFlight = false;
  readonly #arrived: (Frame | null)[] = [];
  #reading: ReadDone | null = null;
  #ended: Done | null = null;
  #isTaken = false;
  #isReleased = false;
  #isAborted = false;
  #brokenBy: ConnectionError | null = null;
  /** Where the next frame is damaged, as a share of its length. */
  #spoiltAt: number | null = null;

  /** `incarnation` is that of the peer; null if it is not listed any more. */
  constructor(network: Network, from: PeerProcess, peer: number, incarnation: string | null) {
    this.#network = network;
    this.#from = from;
    this.boot = from.boot;
    if (incarnation === null) {
      this.#brokenBy = new ConnectionError(`member ${peer} is not listed`);
      return;
    }
    network.addStream(this);
    const hello = from.hello("snapshot", { memberId: peer, incarnation });
    const fail = (reason: string): void => this.breakOff(reason);
    network.pass(
      from.memberId,
      peer,
      () => {
        const target = network.processOf(peer);
        if (target === undefined) {
          fail("nobody listens");
          return;
        }
        this.#to = target;
        target.loop.arrive(() => {
          const refusal = this.#brokenBy === null ? target.onSnapshotHello(hello, this) : null;
          if (refusal !== null) {
            this.#to = null;
            fail(refusal);
          } else if (this.#brokenBy === null) {
            this.#isAccepted = true;
            this.#transmit();
          }
        });
      },
      () => fail("nothing was heard"),
    );
  }

  readonly incoming: IncomingSnapshot = {
    read: (done) => {
      passPoint();
      this.#reading = done;
      this.#handOver();
    },
    close: () => {
      this.#isReleased = true;
      this.#reading = null;
      this.#unregister();
      if (!this.#isTaken) {
        this.breakOff("the reader has closed it");
      }
    },
  };

  write(type: number, body: Uint8Array, done: Done): void {
    passPoint();
    // A manifest decides, before its own end, what happens to it: its checksum is that of the frame.
    const isChecked = type === FrameType.SnapshotManifest;
    this.#written = { frame: { type, body: isChecked ? body : this.#damagedInTransit(body) }, done };
    this.#transmit();
  }

  end(done: Done): void {
    passPoint();
    this.#ended = done;
    this.#written = { frame: null, done: () => undefined };
    this.#transmit();
    if (this.#brokenBy !== null) {
      this.#failEnd();
    }
  }

  abort(): void {
    this.#isAborted = true;
    this.breakOff("it was given up");
  }

  isFrom(process: ConnectionEnd): boolean {
    return this.#from === process;
  }

  spoil(place: number): void {
    this.#spoiltAt = place;
  }

  involves(process: ConnectionEnd): boolean {
    return this.#from === process || this.#to === process;
  }

  breakOff(reason: string): void {
    if (this.#brokenBy !== null) {
      return;
    }
    this.#brokenBy = new ConnectionError(`the snapshot broke off: ${reason}`);
    this.#network.trace.record(this.#from.memberId, "ends a snapshot", [], () => reason);
    if (!this.#arrived.includes(null)) {
      this.#arrived.length = 0;
    }
    this.#transmit();
    this.#failEnd();
    const reading = this.#reading;
    if (this.#to !== null && reading !== null && !this.#isTaken) {
      this.#reading = null;
      this.#inReader(() => reading(this.#brokenBy, null));
    }
    this.#unregister();
  }

  /** Both sides live, and the network between them lets data through. */
  #transmit(): void {
    const written = this.#written;
    if (written === null) {
      return;
    }
    if (this.#brokenBy !== null) {
      this.#written = null;
      this.#inSender(() => written.done(this.#brokenBy));
      return;
    }
    const to = this.#to;
    if (!this.#isAccepted || to === null || this.#isInFlight || this.#arrived.length >= UNREAD_MAX) {
      return;
    }
    this.#written = null;
    this.#isInFlight = true;
    if (to.loop.isDead) {
      this.breakOff("the reader is gone");
    }
    this.#network.pass(
      this.#from.memberId,
      to.memberId,
      () => {
        this.#isInFlight = false;
        if (this.#brokenBy === null) {
          this.#arrived.push(written.frame);
          to.loop.arrive(() => this.#handOver());
          this.#transmit();
        }
      },
      () => this.breakOff("nothing was heard"),
    );
    this.#inSender(() => written.done(null));
  }

  #damagedInTransit(body: Uint8Array): Uint8Array {
    const place = this.#spoiltAt;
    if (place === null || body.length === 0) {
      return body;
    }
    this.#spoiltAt = null;
    const spoilt = new Uint8Array(body);
    const at = Math.floor(place * body.length);
    spoilt[at] = (spoilt[at] as number) ^ SPOILT_BIT;
    this.#network.trace.record(this.#from.memberId, "has a snapshot spoilt", [at, body.length]);
    return spoilt;
  }

  #handOver(): void {
    const reading = this.#reading;
    if (reading === null || this.#isReleased) {
      return;
    }
    const frame = this.#arrived[0];
    if (frame === undefined) {
      if (this.#brokenBy !== null && !this.#isTaken) {
        this.#reading = null;
        this.#inReader(() => reading(this.#brokenBy, null));
      }
      return;
    }
    this.#reading = null;
    this.#arrived.shift();
    if (frame === null) {
      this.#confirm();
    }
    this.#inReader(() => {
      this.#to?.onSnapshotFrame(frame);
      reading(null, frame);
    });
    this.#transmit();
  }

  #confirm(): void {
    this.#isTaken = true;
    this.#unregister();
    const reader = this.#to?.memberId ?? 0;
    this.#network.pass(
      reader,
      this.#from.memberId,
      () => {
        const ended = this.#ended;
        this.#ended = null;
        if (ended !== null) {
          this.#inSender(() => ended(null));
        }
      },
      () => this.#failEnd(),
    );
  }

  #failEnd(): void {
    const ended = this.#ended;
    if (ended !== null) {
      this.#ended = null;
      this.#inSender(() => ended(this.#brokenBy ?? new ConnectionError("the end was not confirmed")));
    }
  }

  #inSender(callback: () => void): void {
    this.#from.loop.arrive(() => {
      if (!this.#isAborted) {
        callback();
      }
    });
  }

  #inReader(callback: () => void): void {
    this.#to?.loop.arrive(() => {
      if (!this.#isReleased) {
        callback();
      }
    });
  }

  #unregister(): void {
    this.#network.removeStream(this);
    this.#to?.onSnapshotEnd(this.#from.incarnation, this);
  }
}
