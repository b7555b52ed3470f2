/**
 * Assembles the messages of a request from its bytes, in whatever pieces they arrive, and decompresses them one by one.
 * It delivers nothing and decompresses nothing before it is started.
 *
 * The size of a message is checked before it is read, and while it is decompressed. Its bytes are copied once; a large
 * message in pieces may be copied a few times. Memory grows with the bytes that have arrived, not with the announced
 * length.
 */
import { beginningOf } from "../../primitives/index.ts";
import {
  type CallStatus,
  type Inflation,
  plainStatus,
  REQUEST_BYTES_MAX,
  requestInflater,
  status,
} from "../calls/index.ts";
import { ACCEPT_ENCODING } from "./answer-fields.ts";

export interface RequestUser {
  onMessage(message: Buffer): void;
  /**
   * Called when a message takes memory in addition to the bytes that have arrived: with its bytes after its
   * decompression, or with 0 if it waits for the decompression of another one. May stop the reader.
   */
  onMoreMemory(bytes: number): void;
  /** Called at the end of the request, after its last message; `isWhole` is false if it ended within a message. */
  onRequestEnd(isWhole: boolean): void;
  /** Called when the rest of the request cannot be read. */
  onBadRequest(problem: CallStatus): void;
}

/** Bytes of the prefix that gRPC puts before each message. */
export const PREFIX_BYTES = 5;
/** A message of at most so many bytes gets its memory at once. */
const INITIAL_BYTES_MAX = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

interface Compressed {
  readonly message: Buffer;
  readonly isCompressed: boolean;
}

export class RequestReader {
  readonly #user: RequestUser;
  readonly #encoding: string;
  /** Bytes of the prefix that have arrived. */
  #prefixBytes = 0;
  #flag = 0;
  #length = 0;
  #message = NO_BYTES;
  /** Bytes of the message that have arrived. */
  #received = 0;
  readonly #messagesMax: number;
  /** Complete messages. */
  #messages = 0;
  /** Messages that arrived before the start or during a decompression. */
  readonly #queued: Compressed[] = [];
  #inflation: Inflation | null = null;
  #isStarted = false;
  /** Why the rest of the request cannot be read, to be reported at the start. */
  #problem: CallStatus | null = null;
  #hasEnded = false;
  #isStopped = false;

  /** @param encoding the field grpc-encoding; `messagesMax` is how many messages the request may have. */
  constructor(user: RequestUser, encoding: string | undefined, messagesMax: number) {
    this.#user = user;
    this.#encoding = encoding ?? "identity";
    this.#messagesMax = messagesMax;
  }

  /** Begins to deliver, first what has arrived already. */
  start(): void {
    this.#isStarted = true;
    if (this.#problem === null) {
      this.#deliverQueued();
    } else {
      this.#fail(this.#problem);
    }
  }

  /** Reads the next bytes, from `from` (inclusive) to `to` (exclusive). It keeps copies. */
  read(bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    while (at < to && !this.#isStopped && this.#problem === null) {
      if (this.#prefixBytes < PREFIX_BYTES) {
        this.#readPrefix(bytes[at] as number);
        at++;
      } else {
        const count = Math.min(to - at, this.#length - this.#received);
        this.#ensureCapacity(count);
        this.#message.set(bytes.subarray(at, at + count), this.#received);
        this.#received += count;
        at += count;
      }
      const isComplete = this.#prefixBytes === PREFIX_BYTES && this.#received === this.#length;
      if (isComplete && !this.#isStopped && this.#problem === null) {
        this.#completeMessage();
      }
    }
  }

  /** Notes that the request has ended. */
  end(): void {
    this.#hasEnded = true;
    this.#endIfDone();
  }

  /** Stops: reads nothing more, makes no more calls, and frees the memory. */
  stop(): void {
    this.#isStopped = true;
    this.#message = NO_BYTES;
    this.#queued.length = 0;
    if (this.#inflation !== null) {
      requestInflater.cancel(this.#inflation);
      this.#inflation = null;
    }
  }

  #readPrefix(byte: number): void {
    if (this.#prefixBytes === 0) {
      this.#flag = byte;
      this.#length = 0;
    } else {
      this.#length = this.#length * 256 + byte;
    }
    this.#prefixBytes++;
    if (this.#prefixBytes < PREFIX_BYTES) {
      return;
    }
    const problem = this.#problemOfPrefix();
    if (problem !== null) {
      this.#fail(problem);
    }
  }

  #problemOfPrefix(): CallStatus | null {
    if (this.#length > REQUEST_BYTES_MAX) {
      const message = `Received message larger than max (${this.#length} vs ${REQUEST_BYTES_MAX})`;
      return plainStatus(status.RESOURCE_EXHAUSTED, message);
    }
    if (this.#flag > 1) {
      return plainStatus(status.INTERNAL, `Received message with the compressed flag ${this.#flag}`);
    }
    if (this.#flag === 0 || this.#encoding === "gzip") {
      return null;
    }
    return this.#encoding === "identity"
      ? plainStatus(status.INTERNAL, "Received compressed message without grpc-encoding")
      : plainStatus(
          status.UNIMPLEMENTED,
          `grpc-encoding: "${beginningOf(this.#encoding)}" is not supported: send identity or gzip`,
          ACCEPT_ENCODING,
        );
  }

  #ensureCapacity(count: number): void {
    const needed = this.#received + count;
    if (this.#message.length >= needed) {
      return;
    }
    const atOnce = Math.min(this.#length, INITIAL_BYTES_MAX);
    const larger = Buffer.allocUnsafe(Math.min(this.#length, Math.max(needed, 2 * this.#message.length, atOnce)));
    larger.set(this.#message.subarray(0, this.#received));
    this.#message = larger;
  }

  #completeMessage(): void {
    const message = this.#message;
    const isCompressed = this.#flag === 1;
    this.#message = NO_BYTES;
    this.#prefixBytes = 0;
    this.#received = 0;
    if (++this.#messages > this.#messagesMax) {
      this.#fail(plainStatus(status.UNIMPLEMENTED, "Received a second request message for a method that takes one"));
    } else if (this.#mayDeliver) {
      this.#deliver(message, isCompressed);
    } else {
      this.#queue({ message, isCompressed });
    }
  }

  get #mayDeliver(): boolean {
    return this.#isStarted && this.#inflation === null && !this.#isStopped;
  }

  #queue(message: Compressed): void {
    if (this.#inflation !== null) {
      this.#user.onMoreMemory(0);
    }
    if (!this.#isStopped) {
      this.#queued.push(message);
    }
  }

  #deliver(message: Buffer, isCompressed: boolean): void {
    if (!isCompressed) {
      this.#user.onMessage(message);
      return;
    }
    this.#inflation = requestInflater.inflate(message, REQUEST_BYTES_MAX, (error, inflated) => {
      this.#inflation = null;
      if (error !== null) {
        this.#fail(problemOfGzip(error));
        return;
      }
      this.#user.onMoreMemory(inflated.length);
      if (!this.#isStopped) {
        this.#user.onMessage(inflated);
        this.#deliverQueued();
      }
    });
  }

  #deliverQueued(): void {
    while (this.#mayDeliver) {
      const next = this.#queued.shift();
      if (next === undefined) {
        break;
      }
      this.#deliver(next.message, next.isCompressed);
    }
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#hasEnded && this.#mayDeliver && this.#queued.length === 0) {
      this.#isStopped = true;
      this.#user.onRequestEnd(this.#prefixBytes === 0);
    }
  }

  #fail(problem: CallStatus): void {
    if (!this.#isStarted) {
      this.#problem = problem;
      this.#message = NO_BYTES;
      return;
    }
    this.stop();
    this.#user.onBadRequest(problem);
  }
}

function problemOfGzip(error: NodeJS.ErrnoException): CallStatus {
  return error.code === "ERR_BUFFER_TOO_LARGE"
    ? plainStatus(
        status.RESOURCE_EXHAUSTED,
        `Received message that decompresses to a size larger than ${REQUEST_BYTES_MAX}`,
      )
    : plainStatus(status.INTERNAL, "Failed to decompress message");
}
