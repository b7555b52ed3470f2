/**
 * A snapshot from a peer, read frame by frame when the reader is ready for the next.
 *
 * The socket is read only while the reader waits. So at most one piece of received bytes and one incomplete frame are
 * in memory, however fast the sender is. Frames come in order, and the reader can distinguish the end from a broken
 * connection.
 */

import { ConnectionError } from "./connection-error.ts";
import type { Frame } from "./frame.ts";
import type { FrameConnection } from "./frame-connection.ts";
import { carries, FrameType } from "./frame-type.ts";

interface Waiting {
  resolve(frame: Frame | null): void;
  reject(error: ConnectionError): void;
}

export class SnapshotReceiver {
  readonly #connection: FrameConnection;
  readonly #frames: Frame[] = [];
  #waiting: Waiting | null = null;
  /** The sender has reported that nothing follows. */
  #isWhole = false;
  #brokenBy: string | null = null;

  /** Takes over the connection; its next frames belong to the snapshot. Calls `onEnded` once it has ended. */
  constructor(connection: FrameConnection, onEnded: () => void) {
    this.#connection = connection;
    connection.carry(
      {
        onFrame: (frame) => this.#onFrame(frame),
        onEnded: (reason) => {
          this.#break(reason);
          onEnded();
        },
      },
      (type) => carries("snapshot", type) || type === FrameType.SnapshotEnd,
    );
    connection.pause();
  }

  /**
   * Returns the next frame. Returns null once the sender has sent everything and this side has read it; the sender then
   * gets a confirmation. Rejects with a ConnectionError if the connection broke before. Only one read may wait at a
   * time.
   */
  read(): Promise<Frame | null> {
    if (this.#waiting !== null) {
      return Promise.reject(new ConnectionError("a snapshot is read one frame at a time"));
    }
    const frame = this.#frames.shift();
    if (frame !== undefined) {
      return Promise.resolve(frame);
    }
    if (this.#isWhole) {
      this.#confirm();
      return Promise.resolve(null);
    }
    if (this.#brokenBy !== null) {
      return Promise.reject(new ConnectionError(`the snapshot broke off: ${this.#brokenBy}`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#connection.resume();
    });
  }

  /** Gives the snapshot up, or releases it after its end. */
  close(): void {
    this.#frames.length = 0;
    this.#connection.end("the snapshot is not wanted any more");
  }

  #onFrame(frame: Frame): void {
    if (frame.type === FrameType.SnapshotEnd) {
      this.#isWhole = true;
    } else {
      this.#frames.push(frame);
    }
    this.#connection.pause();
    this.#handOver();
  }

  #handOver(): void {
    const waiting = this.#waiting;
    if (waiting === null) {
      return;
    }
    const frame = this.#frames.shift();
    if (frame === undefined && !this.#isWhole) {
      return;
    }
    this.#waiting = null;
    if (frame === undefined) {
      this.#confirm();
    }
    waiting.resolve(frame ?? null);
  }

  #confirm(): void {
    this.#connection.endWith(FrameType.SnapshotTaken, new Uint8Array(0), "the snapshot was read to its end");
  }

  #break(reason: string): void {
    if (!this.#isWhole) {
      // The received part of a broken snapshot is useless.
      this.#frames.length = 0;
      this.#brokenBy = reason;
    }
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(new ConnectionError(`the snapshot broke off: ${reason}`));
  }
}
