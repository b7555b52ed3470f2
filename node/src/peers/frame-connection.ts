/**
 * One connection as a two-way stream of frames, over TCP or TLS.
 *
 * It cuts received bytes into frames, keeps a bounded queue of frames to send, and notices when the other side is gone.
 * A frame is either in the queue or wholly handed to the socket. So the frames in the queue when the connection ends
 * were certainly never sent. After the end, for any reason, the connection delivers nothing more, not even frames in
 * bytes that have already arrived (P34).
 */

import type { Socket } from "node:net";
import { invariant } from "../primitives/index.ts";
import {
  FRAME_BODY_BYTES_MAX,
  FRAME_HEADER_BYTES,
  type Frame,
  FrameError,
  FrameParser,
  frameHeader,
  writeFrameHeader,
} from "./frame.ts";
import { FrameType } from "./frame-type.ts";
import type { PeerLimits } from "./limits.ts";
import { Liveness } from "./liveness.ts";
import type { PeerClock } from "./peer-clock.ts";

/** The user of a connection. All calls come from socket or timer events, or from `end` and `endWith`. */
export interface ConnectionUser {
  /** May raise a FrameError, which ends the connection. */
  onFrame(frame: Frame): void;
  /** The connection has ended; the last call, made once. */
  onEnded(reason: string): void;
  /** The socket has everything that was queued, and takes more. */
  onDrained?(): void;
}

/** Frames with bodies up to this size are copied into one piece: one write costs less than two. */
const COPIED_BODY_BYTES_MAX = 4_096;
/** The approximate maximum size of such a piece in bytes. */
const PIECE_BYTES_MAX = 32 * 1024;
const NO_BODY = new Uint8Array(0);

export class FrameConnection {
  readonly socket: Socket;
  readonly #clock: PeerClock;
  readonly #limits: PeerLimits;
  readonly #parser: FrameParser;
  #user: ConnectionUser;
  #liveness: Liveness | null = null;
  #queue: Frame[] = [];
  #queueBytes = 0;
  #finishing = false;
  #ended = false;
  readonly #deliver = (frame: Frame): void => this.#onFrame(frame);

  /** @param first types of frames that may arrive until `carry` is called, each of at most `bodyBytesMax` */
  constructor(
    socket: Socket,
    clock: PeerClock,
    limits: PeerLimits,
    first: { readonly types: readonly number[]; readonly bodyBytesMax: number },
    user: ConnectionUser,
  ) {
    this.socket = socket;
    this.#clock = clock;
    this.#limits = limits;
    this.#user = user;
    this.#parser = new FrameParser({
      bodyBytesMax: first.bodyBytesMax,
      accepts: (type) => first.types.includes(type),
    });
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("drain", () => this.flush());
    socket.on("end", () => this.end("the other side has closed the connection"));
    socket.on("error", (error) => this.end(error.message));
    socket.on("close", () => this.end("the connection is closed"));
  }

  /** Whether the connection takes frames, apart from a full queue. */
  get isOpen(): boolean {
    return !this.#ended && !this.#finishing;
  }

  /** Whether the queue is empty and the socket would take more. */
  get isDrained(): boolean {
    return this.#queue.length === 0 && !this.socket.writableNeedDrain;
  }

  /**
   * The other side is verified. From the next frame on the connection carries these types, and both sides send pings.
   */
  carry(user: ConnectionUser, accepts: (type: number) => boolean): void {
    this.#user = user;
    this.#parser.expect({
      bodyBytesMax: this.#limits.bodyBytesMax,
      accepts: (type) => type === FrameType.Ping || accepts(type),
    });
    this.#liveness = new Liveness(this.#clock, this.#limits, {
      ping: () => this.#ping(),
      dead: () => this.end(`nothing has arrived for ${this.#limits.deadMs} ms`),
    });
  }

  /** The other side has sent its request and waits: no further frame may arrive. */
  expectNothing(user: ConnectionUser): void {
    this.#user = user;
    this.#parser.expect({ bodyBytesMax: 0, accepts: () => false });
  }

  /**
   * Queues a frame until `flush`. Returns false, and queues nothing, if the connection has ended or the queue is full.
   * The body must not change any more.
   */
  send(type: number, body: Uint8Array): boolean {
    const bytes = FRAME_HEADER_BYTES + body.length;
    const waitingBytes = this.#queueBytes + this.socket.writableLength;
    const isFull =
      this.#queue.length >= this.#limits.queueFramesMax ||
      (waitingBytes > 0 && waitingBytes + bytes > this.#limits.queueBytesMax);
    if (!this.isOpen || isFull) {
      return false;
    }
    this.#queue.push({ type, body });
    this.#queueBytes += bytes;
    return true;
  }

  /** Hands a frame to the socket past the queue and its bounds. The caller must then wait until `isDrained`. */
  write(type: number, body: Uint8Array): void {
    invariant(this.#queue.length === 0, "frames leave in their order");
    if (this.isOpen) {
      this.#write([{ type, body }]);
    }
  }

  /** Hands queued frames to the socket while it takes them, in as few pieces as possible. */
  flush(): void {
    if (!this.isOpen) {
      return;
    }
    const { socket } = this;
    const queue = this.#queue;
    socket.cork();
    let sent = 0;
    while (sent < queue.length && !socket.writableNeedDrain) {
      const count = framesOfPiece(queue, sent);
      const frames = queue.slice(sent, sent + count);
      sent += count;
      for (const { body } of frames) {
        this.#queueBytes -= FRAME_HEADER_BYTES + body.length;
      }
      this.#write(frames);
    }
    queue.splice(0, sent);
    socket.uncork();
    if (this.isDrained) {
      this.#user.onDrained?.();
    }
  }

  /** Removes and returns the queued frames, which were never handed to the socket. */
  takeUnsent(): Frame[] {
    this.#queueBytes = 0;
    return this.#queue.splice(0);
  }

  /** Stops reading; meanwhile the connection does not time out. */
  pause(): void {
    this.socket.pause();
    this.#liveness?.suspend();
  }

  resume(): void {
    this.#liveness?.resume();
    this.socket.resume();
  }

  /** Sends nothing more; the connection ends when the other side has read everything and closes it. */
  finish(): void {
    if (this.isOpen) {
      this.#finishing = true;
      this.socket.end();
    }
  }

  /** Ends the connection at once. */
  end(reason: string): void {
    if (this.#stop()) {
      this.socket.destroy();
      this.#user.onEnded(reason);
    }
  }

  /** Sends a last frame and ends the connection when it is written, without waiting for the other side. */
  endWith(type: number, body: Uint8Array, reason: string): void {
    if (this.#ended) {
      return;
    }
    this.#write([{ type, body }]);
    this.#stop();
    this.socket.destroySoon();
    // A peer that does not read could keep the remaining bytes here for ever.
    const cancel = this.#clock.after(this.#limits.deadMs, () => this.socket.destroy());
    this.socket.once("close", cancel);
    this.#user.onEnded(reason);
  }

  #stop(): boolean {
    if (this.#ended) {
      return false;
    }
    this.#ended = true;
    this.#liveness?.stop();
    return true;
  }

  #onData(chunk: Buffer): void {
    if (this.#ended) {
      return;
    }
    this.#liveness?.heard();
    try {
      this.#parser.push(chunk, this.#deliver);
    } catch (error) {
      if (!(error instanceof FrameError)) {
        throw error;
      }
      this.end(error.message);
    }
  }

  #onFrame(frame: Frame): void {
    if (this.#ended) {
      return;
    }
    if (frame.type !== FrameType.Ping) {
      this.#user.onFrame(frame);
    } else if (frame.body.length > 0) {
      throw new FrameError("a ping carries nothing");
    }
  }

  #ping(): void {
    // Bytes that already wait for the other side are an equal sign of life, once it reads them.
    if (!this.#finishing && !this.socket.writableNeedDrain) {
      this.#write([{ type: FrameType.Ping, body: NO_BODY }]);
    }
  }

  /** Hands frames to the socket: one of any size, or several small ones in one piece. */
  #write(frames: readonly Frame[]): void {
    let length = 0;
    for (const { body } of frames) {
      // The other side would end the connection, and again for the same frame on the next one.
      invariant(body.length <= FRAME_BODY_BYTES_MAX, "frames have at most 16 MiB", () => `${body.length} bytes`);
      length += FRAME_HEADER_BYTES + body.length;
    }
    const [first] = frames;
    if (first !== undefined && first.body.length > COPIED_BODY_BYTES_MAX) {
      this.socket.write(frameHeader(first));
      this.socket.write(first.body);
      return;
    }
    const piece = Buffer.allocUnsafe(length);
    let offset = 0;
    for (const frame of frames) {
      offset = writeFrameHeader(piece, offset, frame);
      piece.set(frame.body, offset);
      offset += frame.body.length;
    }
    this.socket.write(piece);
  }
}

/** How many frames from this one on go to the socket together; a large frame goes alone. */
function framesOfPiece(queue: readonly Frame[], from: number): number {
  let bytes = 0;
  let at = from;
  for (; at < queue.length && bytes < PIECE_BYTES_MAX; at++) {
    const { body } = queue[at] as Frame;
    if (body.length > COPIED_BODY_BYTES_MAX) {
      break;
    }
    bytes += FRAME_HEADER_BYTES + body.length;
  }
  return Math.max(1, at - from);
}
