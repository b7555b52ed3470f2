/**
 * The driver's interface to the connections of `peers/`: without promises; the callback of each call gets its failure.
 */

import {
  ConnectionError,
  type Frame,
  type LinkKind,
  type PeerTransport,
  type SnapshotReceiver,
  type SnapshotSender,
} from "../../peers/index.ts";
import type { IncomingSnapshot, OutgoingSnapshot, Transport } from "../context/index.ts";

type Done = (error: Error | null) => void;

/** The transport of a member without peers. */
export const LONE_TRANSPORT: Transport = {
  isConnected: () => false,
  send: () => false,
  flush: () => undefined,
  openSnapshot: () => new FailedSnapshot(new Error("this member has no connections to others")),
};

export class MemberTransport implements Transport {
  readonly #transport: PeerTransport;

  constructor(transport: PeerTransport) {
    this.#transport = transport;
  }

  isConnected(peer: number, kind: LinkKind): boolean {
    return this.#transport.isConnected(peer, kind);
  }

  send(peer: number, kind: LinkKind, type: number, body: Uint8Array): boolean {
    return this.#transport.send(peer, kind, type, body);
  }

  flush(): void {
    this.#transport.flush();
  }

  openSnapshot(peer: number): OutgoingSnapshot {
    try {
      return new SentSnapshot(this.#transport.openSnapshot(peer));
    } catch (error) {
      if (error instanceof ConnectionError) {
        return new FailedSnapshot(error);
      }
      throw error;
    }
  }
}

/** A snapshot to a peer. No callback is called after `abort`. */
class SentSnapshot implements OutgoingSnapshot {
  readonly #sender: SnapshotSender;
  #aborted = false;

  constructor(sender: SnapshotSender) {
    this.#sender = sender;
  }

  write(type: number, body: Uint8Array, done: Done): void {
    this.#tell(this.#sender.write(type, body), done);
  }

  end(done: Done): void {
    this.#tell(this.#sender.end(), done);
  }

  abort(): void {
    this.#aborted = true;
    this.#sender.abort();
  }

  #tell(step: Promise<void>, done: Done): void {
    const unlessAborted: Done = (error) => {
      if (!this.#aborted) {
        done(error);
      }
    };
    step.then(
      () => unlessAborted(null),
      (error: unknown) => unlessAborted(connectionErrorOf(error)),
    );
  }
}

/** A snapshot to a peer that is not listed any more. */
class FailedSnapshot implements OutgoingSnapshot {
  readonly #error: Error;
  #aborted = false;

  constructor(error: Error) {
    this.#error = error;
  }

  write(_type: number, _body: Uint8Array, done: Done): void {
    this.end(done);
  }

  end(done: Done): void {
    queueMicrotask(() => {
      if (!this.#aborted) {
        done(this.#error);
      }
    });
  }

  abort(): void {
    this.#aborted = true;
  }
}

/** A snapshot from a peer. No callback is called after `close`. */
export class ReceivedSnapshot implements IncomingSnapshot {
  readonly #receiver: SnapshotReceiver;
  #closed = false;

  constructor(receiver: SnapshotReceiver) {
    this.#receiver = receiver;
  }

  read(done: (error: Error | null, frame: Frame | null) => void): void {
    const unlessClosed = (error: Error | null, frame: Frame | null): void => {
      if (!this.#closed) {
        done(error, frame);
      }
    };
    this.#receiver.read().then(
      (frame) => unlessClosed(null, frame),
      (error: unknown) => unlessClosed(connectionErrorOf(error), null),
    );
  }

  close(): void {
    this.#closed = true;
    this.#receiver.close();
  }
}

/**
 * Returns the ConnectionError, which connections may raise. Anything else is a bug: it is rethrown and ends the
 * process.
 */
function connectionErrorOf(error: unknown): Error {
  if (error instanceof ConnectionError) {
    return error;
  }
  throw error;
}
