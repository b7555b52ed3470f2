/**
 * A snapshot that this member sends to a peer, on a separate connection.
 *
 * Each write waits until the connection takes more, so that the sender keeps the reader's pace. The reader confirms the
 * end; without the confirmation the snapshot has not arrived.
 */

import { invariant } from "../primitives/index.ts";
import { ConnectionError } from "./connection-error.ts";
import { Dial, type DialPlan } from "./dial.ts";
import type { Frame } from "./frame.ts";
import type { FrameConnection } from "./frame-connection.ts";
import { carries, FrameType } from "./frame-type.ts";
import { ANSWER_BYTES, decodeAnswer } from "./hello.ts";
import type { PeerEnvironment } from "./peer-environment.ts";

/** A caller that waits for the connection, for queue space, or for the confirmation, and checks again when woken. */
interface Waiting {
  resolve(): void;
  reject(error: ConnectionError): void;
}

export type SnapshotTarget = Pick<DialPlan, "address" | "dialHint">;

export class SnapshotSender {
  readonly #dial: Dial;
  readonly #onEnded: () => void;
  #connection: FrameConnection | null = null;
  #waiting: Waiting | null = null;
  /** The reader has confirmed the end. */
  #isComplete = false;
  #brokenBy: ConnectionError | null = null;

  /** Dials at once. Calls `onEnded` once, when the connection has ended or could not be opened. */
  constructor(environment: PeerEnvironment, target: SnapshotTarget, hello: Uint8Array, onEnded: () => void) {
    this.#onEnded = onEnded;
    const plan = {
      ...target,
      first: { type: FrameType.Hello, body: hello },
      answerType: FrameType.Answer,
      answerBytesMax: ANSWER_BYTES,
      limitMs: environment.limits.dialMs,
    };
    this.#dial = new Dial(environment, plan, {
      onAnswer: (connection, body) => this.#onAnswer(connection, body),
      onFailed: (reason) => this.#break(new ConnectionError(`the snapshot could not be sent: ${reason}`)),
    });
  }

  /**
   * Sends a frame; resolves when the next one may follow. One write at a time. Rejects with a ConnectionError once the
   * connection is lost or refused; BUSY means that the peer already receives its maximum of snapshots.
   */
  async write(type: number, body: Uint8Array): Promise<void> {
    invariant(carries("snapshot", type), "frames travel on connections of their kind", () => `type ${type}`);
    await this.#write(type, body);
  }

  /** Reports that nothing follows; resolves when the peer has read everything. Rejects like `write`. */
  async end(): Promise<void> {
    await this.#write(FrameType.SnapshotEnd, new Uint8Array(0));
    await this.#until(() => this.#isComplete);
  }

  /** Gives up; a waiting call rejects. */
  abort(): void {
    this.#dial.cancel();
    this.#connection?.end("the snapshot was given up");
    this.#break(new ConnectionError("the snapshot was given up"));
  }

  async #write(type: number, body: Uint8Array): Promise<void> {
    await this.#until(() => this.#connection?.isDrained === true);
    this.#checkUnbroken();
    this.#connection?.write(type, body);
    await this.#until(() => this.#connection?.isDrained === true);
  }

  async #until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      this.#checkUnbroken();
      invariant(this.#waiting === null, "snapshots are written one frame at a time");
      await new Promise<void>((resolve, reject) => {
        this.#waiting = { resolve, reject };
      });
    }
  }

  #checkUnbroken(): void {
    if (this.#brokenBy !== null) {
      throw this.#brokenBy;
    }
  }

  #onAnswer(connection: FrameConnection, body: Uint8Array): void {
    const answer = decodeAnswer(body);
    if (!answer.ok) {
      connection.end("the member has refused the snapshot");
      this.#break(new ConnectionError(`the snapshot was refused: ${answer.refusal}`, answer.refusal));
      return;
    }
    this.#connection = connection;
    connection.carry(
      {
        onFrame: (frame) => this.#onFrame(frame),
        onEnded: (reason) => this.#break(new ConnectionError(`the snapshot broke off: ${reason}`)),
        onDrained: () => this.#wake(),
      },
      (type) => type === FrameType.SnapshotTaken,
    );
    this.#wake();
  }

  #onFrame(_taken: Frame): void {
    this.#isComplete = true;
    this.#wake();
    this.#connection?.end("the snapshot was taken");
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve();
  }

  #break(error: ConnectionError): void {
    if (this.#brokenBy !== null) {
      return;
    }
    this.#brokenBy = error;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
    this.#onEnded();
  }
}
