/**
 * The sending half of a connection: turns answers into frames, within the windows of the client (RFC 9113 §5.2) and the
 * limit of unwritten bytes. Bytes that cannot be sent yet are queued on their stream; streams send them in turns of one
 * frame.
 *
 * Bytes are copied once, into the output. Queued bytes are counted, for each stream and for all.
 */
import { copyOf } from "../bytes/index.ts";
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  FRAME_BYTES_INITIAL,
  GOAWAY,
  GOAWAY_BYTES_MIN,
  HEAD_BYTES,
  HEADERS,
  PING,
  PING_BYTES,
  RST_STREAM,
  SETTINGS,
  UINT31_MAX,
  WINDOW_BYTES_INITIAL,
  WINDOW_UPDATE,
  writeHead,
  writeUint32,
} from "./frame.ts";
import { HeaderEncoder } from "./hpack/index.ts";
import type { Http2Limits } from "./limits.ts";
import type { Output } from "./output.ts";
import type { QueuedBytes } from "./queued-bytes.ts";
import { SendQueue } from "./send-queue.ts";
import type { ServerStream } from "./server-stream.ts";

/**
 * "taken": the bytes are sent or queued. "full": they are not taken, and `onWritable` of the handler is called later.
 * "closed": the stream takes no more bytes, because it has ended or is ending.
 */
export type WriteOutcome = "taken" | "full" | "closed";

const NO_BYTES = new Uint8Array(0);
/** Streams that have waited until they may be answered, and whose answers are being made now. Others may have begun. */
const RELEASED_MAX = 8;
/** The client's maximum may be 16 MiB; with such frames the streams would not take turns. */
const DATA_BYTES_MAX = FRAME_BYTES_INITIAL;

export class Sender {
  readonly #output: Output;
  readonly #limits: Http2Limits;
  readonly #queuedOfAll: QueuedBytes;
  readonly #encoder: HeaderEncoder;
  readonly #onAnswerEnded: (stream: ServerStream) => void;
  readonly #queue = new SendQueue();
  /** Streams whose users wait until they can write again. */
  readonly #waiting = new Set<ServerStream>();
  /** Streams whose users wait until they may make an answer, in the order of their requests. */
  readonly #held = new Set<ServerStream>();
  /** Those that waited, and have no answer yet. */
  readonly #released = new Set<ServerStream>();
  #window = WINDOW_BYTES_INITIAL;
  #initialWindow = WINDOW_BYTES_INITIAL;
  #frameBytesMax = FRAME_BYTES_INITIAL;
  #queuedBytes = 0;
  #dataFrames = 0;
  #isCallingWaiting = false;

  /**
   * @param queuedOfAll counts the queued bytes of all connections together
   * @param varyingFields names of fields whose values get no entry in the encoder's table
   * @param onAnswerEnded called when the last frame of an answer is in the output
   */
  constructor(
    output: Output,
    limits: Http2Limits,
    queuedOfAll: QueuedBytes,
    varyingFields: ReadonlySet<string>,
    onAnswerEnded: (stream: ServerStream) => void,
  ) {
    this.#output = output;
    this.#limits = limits;
    this.#queuedOfAll = queuedOfAll;
    this.#encoder = new HeaderEncoder({ tableBytesMax: limits.headerTableBytes, withoutIndexing: varyingFields });
    this.#onAnswerEnded = onAnswerEnded;
  }

  /** The initial window of a stream. */
  get initialWindow(): number {
    return this.#initialWindow;
  }

  /** Queued bytes of all streams. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Number of DATA frames that were sent. */
  get dataFrames(): number {
    return this.#dataFrames;
  }

  /**
   * Whether a whole answer may be made now. If not, `onWritable` of the handler is called when the client has taken
   * enough of the answers before it.
   */
  mayAnswer(stream: ServerStream): boolean {
    if (this.#queuedBytes < this.#limits.queuedBytes && this.#held.size === 0) {
      return true;
    }
    this.#held.add(stream);
    return false;
  }

  /** Sends the first fields of an answer. */
  respond(stream: ServerStream, fields: readonly string[]): void {
    stream.hasResponded = true;
    this.#released.delete(stream);
    this.#appendFields(stream.id, fields, END_HEADERS);
  }

  /** Sends or queues bytes: a copy of `head`, and `body` without a copy. */
  write(stream: ServerStream, head: Uint8Array, body: Uint8Array): WriteOutcome {
    const { streamQueuedBytes, queuedBytes } = this.#limits;
    if (stream.queuedBytes >= streamQueuedBytes || this.#queuedBytes >= queuedBytes) {
      this.#waiting.add(stream);
      return "full";
    }
    this.#sendOrQueue(stream, head, body);
    return "taken";
  }

  /** Ends an answer after its queued bytes. Without trailers it ends with an empty DATA frame. */
  end(stream: ServerStream, trailers: readonly string[]): void {
    stream.isEnding = true;
    this.#waiting.delete(stream);
    if (stream.queuedBytes > 0) {
      stream.trailers = trailers;
    } else {
      this.#finish(stream, trailers);
    }
  }

  /** Sends a whole answer and queues its rest, even above the limit: the user has its bytes in memory anyway. */
  answer(
    stream: ServerStream,
    fields: readonly string[],
    head: Uint8Array,
    body: Uint8Array,
    trailers: readonly string[],
  ): void {
    this.respond(stream, fields);
    this.#sendOrQueue(stream, head, body);
    // A user whose `onWritable` was called may have closed the connection.
    if (stream.isOpen) {
      this.end(stream, trailers);
    }
  }

  /** Drops the queued bytes of a stream that has ended. */
  drop(stream: ServerStream): void {
    this.#countSent(stream.queuedBytes);
    stream.dropQueued();
    this.#queue.remove(stream);
    this.#waiting.delete(stream);
    this.#held.delete(stream);
    this.#released.delete(stream);
  }

  /** Sends the queued bytes that may be sent now, and calls the users that wait to write or to answer. */
  pump(): void {
    const { unwrittenBytes } = this.#limits;
    for (let stream = this.#queue.first; stream !== null; stream = this.#queue.first) {
      if (this.#window <= 0 || this.#output.unwrittenBytes >= unwrittenBytes) {
        break;
      }
      this.#sendQueued(stream);
    }
    // A user that is called may write, which calls this method again.
    if ((this.#waiting.size > 0 || this.#held.size > 0) && !this.#isCallingWaiting) {
      this.#isCallingWaiting = true;
      this.#callWaiting();
      this.#isCallingWaiting = false;
    }
  }

  /** Widens the send window of the connection. Returns false if it became too large. */
  widen(increment: number): boolean {
    this.#window += increment;
    return this.#window <= UINT31_MAX;
  }

  /** Widens the send window of a stream. Returns false if it became too large. */
  widenStream(stream: ServerStream, increment: number): boolean {
    stream.sendWindow += increment;
    this.#queueIfSendable(stream);
    return stream.sendWindow <= UINT31_MAX;
  }

  /**
   * Changes the window of each stream, including the open `streams` (§6.9.2). Returns false if one became too large.
   */
  setInitialWindow(bytes: number, streams: Iterable<ServerStream>): boolean {
    const change = bytes - this.#initialWindow;
    this.#initialWindow = bytes;
    let isGood = true;
    for (const stream of streams) {
      isGood = this.widenStream(stream, change) && isGood;
      if (stream.sendWindow <= 0) {
        this.#queue.remove(stream);
      }
    }
    return isGood;
  }

  setFrameBytesMax(bytes: number): void {
    this.#frameBytesMax = bytes;
  }

  setHeaderTableBytes(bytes: number): void {
    this.#encoder.setPeerTableBytesMax(bytes);
  }

  sendSettings(payload: Uint8Array): void {
    this.#output.appendFrame(SETTINGS, 0, 0, payload);
  }

  acknowledgeSettings(): void {
    this.#output.appendFrame(SETTINGS, ACK, 0, NO_BYTES);
  }

  sendWindowUpdate(streamId: number, increment: number): void {
    this.#output.appendWord(WINDOW_UPDATE, streamId, increment);
  }

  sendReset(streamId: number, code: number): void {
    this.#output.appendWord(RST_STREAM, streamId, code);
  }

  /** Sends PING or its acknowledgement, with the eight bytes from `from`. */
  sendPing(flags: number, bytes: Uint8Array, from: number): void {
    const output = this.#output;
    output.reserve(HEAD_BYTES + PING_BYTES);
    const at = writeHead(output.bytes, output.end, PING_BYTES, PING, flags, 0);
    for (let place = 0; place < PING_BYTES; place++) {
      output.bytes[at + place] = bytes[from + place] as number;
    }
    output.end = at + PING_BYTES;
  }

  /** Sends GOAWAY, with a word for people who read the traffic. */
  sendGoAway(lastStreamId: number, code: number, word: string): void {
    const output = this.#output;
    const length = GOAWAY_BYTES_MIN + word.length;
    output.reserve(HEAD_BYTES + length);
    const at = writeHead(output.bytes, output.end, length, GOAWAY, 0, 0);
    const wordAt = writeUint32(output.bytes, writeUint32(output.bytes, at, lastStreamId), code);
    output.end = wordAt + output.bytes.write(word, wordAt, "latin1");
  }

  #sendOrQueue(stream: ServerStream, head: Uint8Array, body: Uint8Array): void {
    const length = head.length + body.length;
    if (this.#fits(stream, length)) {
      this.#appendData(stream, head, body, length);
    } else if (length > 0) {
      stream.queue(copyOf(head, 0, head.length));
      stream.queue(body);
      this.#queuedBytes += length;
      this.#queueIfSendable(stream);
      this.pump();
      // This may close the connection.
      this.#queuedOfAll.add(length);
    }
  }

  /** Counts queued bytes that were sent or dropped. */
  #countSent(count: number): void {
    this.#queuedBytes -= count;
    this.#queuedOfAll.remove(count);
  }

  /** Whether so many bytes may be sent now as one frame. */
  #fits(stream: ServerStream, length: number): boolean {
    return (
      length > 0 &&
      stream.queuedBytes === 0 &&
      length <= stream.sendWindow &&
      length <= this.#window &&
      length <= DATA_BYTES_MAX &&
      this.#output.unwrittenBytes < this.#limits.unwrittenBytes
    );
  }

  #appendData(stream: ServerStream, head: Uint8Array, body: Uint8Array, length: number): void {
    const at = this.#beginData(stream, length);
    const { bytes } = this.#output;
    for (let place = 0; place < head.length; place++) {
      bytes[at + place] = head[place] as number;
    }
    bytes.set(body, at + head.length);
  }

  /** Sends one frame of the queued bytes of the first stream in the queue. */
  #sendQueued(stream: ServerStream): void {
    const length = Math.min(stream.queuedBytes, stream.sendWindow, this.#window, DATA_BYTES_MAX);
    const at = this.#beginData(stream, length);
    stream.unqueue(length, this.#output.bytes, at);
    this.#countSent(length);
    this.#queue.remove(stream);
    if (stream.queuedBytes > 0) {
      this.#queueIfSendable(stream);
    } else if (stream.isEnding) {
      this.#finish(stream, stream.trailers);
    }
  }

  /** Appends a DATA frame without its payload. Returns where to write the payload. */
  #beginData(stream: ServerStream, length: number): number {
    const output = this.#output;
    output.reserve(HEAD_BYTES + length);
    const at = writeHead(output.bytes, output.end, length, DATA, 0, stream.id);
    output.end = at + length;
    stream.sendWindow -= length;
    this.#window -= length;
    this.#dataFrames++;
    return at;
  }

  #queueIfSendable(stream: ServerStream): void {
    if (stream.queuedBytes > 0 && stream.sendWindow > 0) {
      this.#queue.add(stream);
    }
  }

  #finish(stream: ServerStream, trailers: readonly string[]): void {
    if (trailers.length > 0) {
      this.#appendFields(stream.id, trailers, END_HEADERS | END_STREAM);
    } else {
      this.#output.appendFrame(DATA, END_STREAM, stream.id, NO_BYTES);
    }
    this.#onAnswerEnded(stream);
  }

  #appendFields(streamId: number, fields: readonly string[], flags: number): void {
    const output = this.#output;
    const encoder = this.#encoder;
    const bytesMax = encoder.boundOf(fields);
    // A block in several frames has more heads than this one.
    output.reserve(HEAD_BYTES * (1 + Math.ceil(bytesMax / FRAME_BYTES_INITIAL)) + bytesMax);
    const from = output.end + HEAD_BYTES;
    const to = Object.isFrozen(fields)
      ? encoder.encodeRepeated(fields, output.bytes, from)
      : encoder.encode(fields, output.bytes, from);
    if (to - from <= this.#frameBytesMax) {
      writeHead(output.bytes, output.end, to - from, HEADERS, flags, streamId);
      output.end = to;
    } else {
      this.#cutBlock(streamId, flags, from, to);
    }
  }

  /**
   * Splits a block after the end of the output, too long for one frame, into a HEADERS frame and CONTINUATION frames.
   */
  #cutBlock(streamId: number, flags: number, from: number, to: number): void {
    const output = this.#output;
    const { bytes } = output;
    const frames = Math.ceil((to - from) / this.#frameBytesMax);
    // From the last part to the first, because each moves to the place of the next one.
    for (let frame = frames - 1; frame >= 0; frame--) {
      const partFrom = from + frame * this.#frameBytesMax;
      const partTo = Math.min(to, partFrom + this.#frameBytesMax);
      const head = partFrom + (frame - 1) * HEAD_BYTES;
      bytes.copyWithin(head + HEAD_BYTES, partFrom, partTo);
      const isLast = frame === frames - 1;
      const partFlags = frame === 0 ? flags & ~END_HEADERS : isLast ? END_HEADERS : 0;
      writeHead(bytes, head, partTo - partFrom, frame === 0 ? HEADERS : CONTINUATION, partFlags, streamId);
    }
    output.end = to + (frames - 1) * HEAD_BYTES;
  }

  /** Calls users that wait to write or to answer, as long as the limits allow. */
  #callWaiting(): void {
    const { streamQueuedBytes, queuedBytes } = this.#limits;
    for (const stream of this.#waiting) {
      // Half of the limit, so that a user can write a useful amount each time.
      if (this.#queuedBytes > queuedBytes / 2) {
        break;
      }
      if (stream.queuedBytes <= streamQueuedBytes / 2) {
        this.#waiting.delete(stream);
        stream.handler.onWritable(stream);
      }
    }
    // The size of their answers is not known yet, so only a few are made at a time.
    for (const stream of this.#held) {
      if (this.#queuedBytes > queuedBytes / 2 || this.#released.size >= RELEASED_MAX) {
        break;
      }
      this.#held.delete(stream);
      this.#released.add(stream);
      stream.handler.onWritable(stream);
    }
  }
}
