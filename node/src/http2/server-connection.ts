/**
 * The server's end of one HTTP/2 connection (RFC 9113), as a state machine: bytes and times go in, bytes and calls of
 * handlers come out. It has no socket and reads no clock.
 *
 * Whatever the client sends, in whatever pieces, a connection uses no more memory than its limits allow. If the client
 * breaks the protocol or floods it, the connection ends itself and reports the reason once. Calls for an ended stream
 * do nothing, because a user may not know yet that it has ended.
 */
import type { BufferPool } from "./buffer-pool.ts";
import { type CloseReason, type CloseResult, REFUSAL_CODES, type StreamRefusal } from "./close-reason.ts";
import { ConnectionTimes } from "./connection-times.ts";
import type { Http2Counters } from "./counters.ts";
import { ErrorCode } from "./error-code.ts";
import { PING_BYTES, UINT31_MAX, WINDOW_BYTES_INITIAL } from "./frame.ts";
import type { Http2Limits } from "./limits.ts";
import { Output } from "./output.ts";
import { encodeOwnSettings } from "./own-settings.ts";
import type { QueuedBytes } from "./queued-bytes.ts";
import { Receiver } from "./receiver.ts";
import { Sender, type WriteOutcome } from "./sender.ts";
import { ServerStream, type StreamHandler } from "./server-stream.ts";
import { StreamTable } from "./stream-table.ts";

/**
 * The callbacks of a connection. No handler, also of a stream, is called after `onClosed`, and none for a stream after
 * its `onReset`. Handlers may call any method of the connection. They must not throw: an exception passes through the
 * connection and makes it unusable.
 */
export interface ConnectionHandler {
  /**
   * Who uses the connection: the queued answers of all connections of an owner count together. Absent = it has an owner
   * of its own.
   */
  readonly owner?: string;
  /** Whether its client has shown who it is; a connection of another client may be idle for less time. Absent = it has. */
  readonly isKnown?: boolean;
  /**
   * Called when a request begins. If the request is complete, `onEnd` of the returned handler is called at once.
   *
   * @param fields name, value, name, value, …: latin-1 texts, checked by the rules of RFC 9113 §8
   * @returns the handler of this stream
   */
  onRequest(stream: ServerStream, fields: readonly string[]): StreamHandler;
  /** Called once when the connection has ended, or ends after its last bytes; after all `onReset` calls. */
  onClosed(closure: CloseResult): void;
}

/** The payload of keepalive PINGs, and of the PING that shows that the client has received GOAWAY. */
const KEEPALIVE_PING: Uint8Array = Buffer.from("liveness", "latin1");
const DRAIN_PING: Uint8Array = Buffer.from("draining", "latin1");
/** Drain time of a connection without streams. */
const IDLE_DRAIN_MS = 10_000;
const NO_BYTES = new Uint8Array(0);

export interface ServerConnectionOptions {
  readonly limits: Http2Limits;
  /** Shared by all connections of a server. */
  readonly counters: Http2Counters;
  /** Shared by all connections of a server. */
  readonly pool: BufferPool;
  /** Shared by all connections of a server. */
  readonly queuedOfAll: QueuedBytes;
  readonly nowMs: number;
  /** Names of answer fields whose values differ in most answers, so that the client need not store them. */
  readonly varyingFields: ReadonlySet<string>;
  /** Called when there is output to take after there was none, or when the connection has ended. */
  readonly onOutput: () => void;
  /** Called once, before the constructor returns. */
  readonly handlerOf: (connection: ServerConnection) => ConnectionHandler;
}

/** Memory that the connection uses because of its client, in bytes. */
export interface BufferedBytes {
  /** Bytes of requests that are received and not consumed. */
  readonly unread: number;
  /** Bytes of incomplete frames and header blocks. */
  readonly incomplete: number;
  /** Bytes of answers that wait for a window or for the socket. */
  readonly queued: number;
  /** Bytes of frames that the socket has not written. */
  readonly unwritten: number;
}

export class ServerConnection {
  readonly #limits: Http2Limits;
  readonly #counters: Http2Counters;
  readonly #onOutput: () => void;
  readonly #streams = new StreamTable();
  readonly #times: ConnectionTimes;
  readonly #output: Output;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  readonly #handler: ConnectionHandler;
  /** Streams with higher numbers are not served. */
  #lastAcceptedId = UINT31_MAX;
  #isDraining = false;
  #reasonWhenDrained: CloseReason = "drained";
  /** The reason to end after the last stream; null while it need not end. */
  #reasonToEnd: CloseReason | null = null;
  #closeResult: CloseResult | null = null;

  constructor(options: ServerConnectionOptions) {
    const { limits, counters, pool, queuedOfAll, nowMs, varyingFields, onOutput, handlerOf } = options;
    this.#limits = limits;
    this.#counters = counters;
    this.#onOutput = onOutput;
    this.#times = new ConnectionTimes(limits, nowMs);
    this.#output = new Output(pool, onOutput);
    this.#sender = new Sender(this.#output, limits, queuedOfAll, varyingFields, (stream) =>
      this.#onAnswerEnded(stream),
    );
    this.#receiver = new Receiver({
      limits,
      counters,
      streams: this.#streams,
      sender: this.#sender,
      times: this.#times,
      owner: {
        serves: (streamId) => streamId <= this.#lastAcceptedId,
        fail: (reason, code) => this.#fail(reason, code),
        open: (streamId, fields, declaredBytes) => this.#open(streamId, fields, declaredBytes),
        onPeerReset: (stream, code) => this.#onPeerReset(stream, code),
        refuse: (stream, reason) => this.#refuse(stream, reason),
        onPeerGoAway: () => this.#onPeerGoAway(),
        onPong: (payload, from) => this.#onPong(payload, from),
      },
    });
    counters.connectionsOpened++;
    this.#sender.sendSettings(encodeOwnSettings(limits));
    if (limits.unreadBytes > WINDOW_BYTES_INITIAL) {
      this.#sender.sendWindowUpdate(0, limits.unreadBytes - WINDOW_BYTES_INITIAL);
    }
    this.#handler = handlerOf(this);
  }

  /** How it ended; null before. After the end there may still be output to take for a short time. */
  get closeResult(): CloseResult | null {
    return this.#closeResult;
  }

  /** Number of open streams. */
  get streamCount(): number {
    return this.#streams.size;
  }

  /** Whether the client has sent its first SETTINGS. */
  get isEstablished(): boolean {
    return this.#receiver.hasSettings;
  }

  /** Bytes of answers that wait for a window or for the socket. */
  get queuedBytes(): number {
    return this.#sender.queuedBytes;
  }

  get bufferedBytes(): BufferedBytes {
    return {
      unread: this.#receiver.unreadBytes,
      incomplete: this.#receiver.incompleteBytes,
      queued: this.#sender.queuedBytes,
      unwritten: this.#output.unwrittenBytes,
    };
  }

  /** Whether it reads from the client now. If not, it does so again after the socket has written. */
  get isReading(): boolean {
    return this.#closeResult === null && this.#output.unwrittenBytes < this.#limits.unwrittenBytes;
  }

  /** Whether the socket has taken bytes that it has not written yet. */
  get isWriting(): boolean {
    return this.#output.isTaken;
  }

  // Calls of the socket.

  /**
   * Receives bytes of the client, up to the end of the frame that contains `pauseAt`. They are not stored: the caller may
   * reuse their memory after the call.
   *
   * @returns where it has ended.
   */
  receive(bytes: Uint8Array, from: number, to: number, nowMs: number, pauseAt = to): number {
    if (this.#closeResult !== null) {
      return to;
    }
    this.#times.onReceived(nowMs);
    const end = this.#receiver.receive(bytes, from, to, pauseAt);
    this.#counters.bytesReceived += end - from;
    return end;
  }

  /** Does what is due. Call it about once a second. */
  tick(nowMs: number): void {
    if (this.#closeResult !== null) {
      return;
    }
    const due = this.#times.due(nowMs, {
      hasSettings: this.#receiver.hasSettings,
      isKnown: this.#handler.isKnown ?? true,
      headersStreamId: this.#receiver.headersStreamId,
      streams: this.#streams.size,
      isWriting: this.isWriting,
      isReading: this.isReading,
    });
    if (due === "final-goaway") {
      this.#refuseNewStreams();
    } else if (due === "idle") {
      this.#drain("idle", nowMs + IDLE_DRAIN_MS);
    } else if (due === "keepalive-ping") {
      this.#sender.sendPing(0, KEEPALIVE_PING, 0);
      this.#times.onPinged();
    } else if (due !== null) {
      this.#fail(due, ErrorCode.NoError);
    }
  }

  /** Returns all bytes for the client; null if there are none. Call `written` before taking more. */
  takeOutput(): Uint8Array | null {
    const bytes = this.#output.take();
    if (bytes !== null) {
      this.#counters.bytesSent += bytes.length;
      this.#times.onTaken();
    }
    return bytes;
  }

  /** Call it when the taken bytes are written; their memory is reused. */
  written(): void {
    this.#output.written();
    if (this.#closeResult === null) {
      this.#sender.pump();
    }
  }

  /** Ends the connection because its socket has ended. */
  abandon(reason: CloseReason): void {
    if (this.#closeResult === null) {
      this.#end({ reason, code: ErrorCode.NoError });
    }
  }

  // Calls of the user.

  /**
   * Sends the first fields of an answer, `:status` before all others. The encoding of a frozen array is reused as long
   * as the connection's dynamic table does not change.
   */
  respond(stream: ServerStream, fields: readonly string[]): void {
    if (!canAnswer(stream)) {
      return;
    }
    if (stream.hasResponded) {
      throw new Error("An answer has its first fields already");
    }
    this.#sender.respond(stream, fields);
  }

  /**
   * Whether the user may make a whole answer now: a client that does not take its answers must wait for further ones.
   * If not, `onWritable` of the stream's handler is called later, once.
   */
  mayAnswer(stream: ServerStream): boolean {
    return !canAnswer(stream) || this.#sender.mayAnswer(stream);
  }

  /**
   * Sends bytes of an answer: `head`, which is copied, and then `body`, which must not change until the stream has
   * ended. It takes all of the bytes or none.
   */
  write(stream: ServerStream, head: Uint8Array, body: Uint8Array = NO_BYTES): WriteOutcome {
    if (!canAnswer(stream)) {
      return "closed";
    }
    if (!stream.hasResponded) {
      throw new Error("An answer has no bytes before its first fields");
    }
    return this.#sender.write(stream, head, body);
  }

  /**
   * Ends an answer, after its queued bytes. The trailers may be the whole answer, with `:status`; they may be empty if
   * the first fields were sent. The rest of the request is then not received.
   */
  end(stream: ServerStream, trailers: readonly string[]): void {
    if (!canAnswer(stream)) {
      return;
    }
    if (!stream.hasResponded && trailers.length === 0) {
      throw new Error("An answer has no fields");
    }
    this.#sender.end(stream, trailers);
  }

  /** The same as `respond`, `write` and `end`, but always takes the bytes. Ask `mayAnswer` before making them. */
  answer(
    stream: ServerStream,
    fields: readonly string[],
    head: Uint8Array,
    body: Uint8Array,
    trailers: readonly string[],
  ): void {
    if (canAnswer(stream)) {
      if (stream.hasResponded) {
        throw new Error("An answer has its first fields already");
      }
      this.#sender.answer(stream, fields, head, body, trailers);
    }
  }

  /** Ends a stream at once; its handler is not called again. */
  reset(stream: ServerStream, code: number): void {
    if (stream.isOpen) {
      this.#reset(stream, code);
      this.#endIfDone();
      this.#sender.pump();
    }
  }

  /** Counts a request that was no call at all, like one with malformed frames. Too many of them end the connection. */
  countStreamError(): void {
    if (this.#closeResult === null) {
      this.#receiver.countStreamError();
    }
  }

  /** Counts consumed bytes of a request; the client may send as many more. */
  consume(stream: ServerStream, count: number): void {
    if (stream.isOpen) {
      this.#receiver.consume(stream, count);
    }
  }

  /** Ends after the open streams; the client must not open others. At the deadline it ends in any case. */
  drain(deadlineMs: number): void {
    if (this.#closeResult === null) {
      this.#drain("drained", deadlineMs);
    }
  }

  /** Ends at once with all streams. The code gives the client the reason. */
  close(code: number = ErrorCode.NoError): void {
    this.#fail("closed-by-server", code);
  }

  /** Who uses it, as far as the handler knows. */
  get owner(): string | undefined {
    return this.#handler.owner;
  }

  /** Ends at once, because its owner has the most queued bytes of all, and this connection the most of these. */
  closeOverQueueLimit(): void {
    this.#fail("answers-not-taken", ErrorCode.EnhanceYourCalm);
  }

  #fail(reason: CloseReason, code: number): void {
    if (this.#closeResult === null) {
      this.#sender.sendGoAway(Math.min(this.#streams.lastId, this.#lastAcceptedId), code, reason);
      this.#end({ reason, code });
    }
  }

  #open(streamId: number, fields: readonly string[], declaredBytes: number): ServerStream {
    const stream = new ServerStream(
      streamId,
      declaredBytes,
      this.#limits.streamUnreadBytes,
      this.#sender.initialWindow,
    );
    this.#streams.add(stream);
    this.#counters.streamsOpened++;
    stream.handler = this.#handler.onRequest(stream, fields);
    return stream;
  }

  #onPeerReset(stream: ServerStream, code: number): void {
    this.#streams.end(stream.id);
    this.#forget(stream);
    stream.handler.onReset(stream, code);
    this.#endIfDone();
  }

  #refuse(stream: ServerStream, reason: StreamRefusal): void {
    const code = REFUSAL_CODES[reason];
    this.#counters.refusedStreams[reason]++;
    this.#reset(stream, code);
    stream.handler.onReset(stream, code);
    this.#endIfDone();
  }

  /** The client opens no more streams, but may wait for the answers of the open ones. */
  #onPeerGoAway(): void {
    this.#reasonToEnd ??= "peer-went-away";
    this.#endIfDone();
  }

  #onPong(bytes: Uint8Array, from: number): void {
    if (this.#isDraining && isAt(DRAIN_PING, bytes, from)) {
      this.#refuseNewStreams();
    }
  }

  #onAnswerEnded(stream: ServerStream): void {
    if (stream.isRequestOpen) {
      // The client need not send the rest of the request (§8.1).
      this.#reset(stream, ErrorCode.NoError);
    } else {
      this.#streams.end(stream.id);
      this.#forget(stream);
    }
    stream.handler.onAnswered?.(stream);
    this.#endIfDone();
  }

  #reset(stream: ServerStream, code: number): void {
    this.#counters.resetsSent++;
    this.#sender.sendReset(stream.id, code);
    this.#streams.reset(stream.id);
    this.#forget(stream);
  }

  /** Frees a stream that was removed from the table. */
  #forget(stream: ServerStream): void {
    stream.isOpen = false;
    stream.isRequestOpen = false;
    this.#sender.drop(stream);
    this.#receiver.release(stream);
    this.#counters.streamsClosed++;
    if (this.#streams.size === 0) {
      this.#times.onIdle();
    }
  }

  #drain(reason: CloseReason, deadlineMs: number): void {
    this.#times.onDraining(deadlineMs);
    if (this.#isDraining) {
      return;
    }
    this.#isDraining = true;
    this.#reasonWhenDrained = reason;
    if (!this.#receiver.hasSettings) {
      this.#fail(reason, ErrorCode.NoError);
      return;
    }
    // The client may have opened streams that have not arrived yet, so the first GOAWAY only announces the end (§6.8).
    this.#sender.sendGoAway(UINT31_MAX, ErrorCode.NoError, reason);
    this.#sender.sendPing(0, DRAIN_PING, 0);
  }

  /** Sends the last GOAWAY: the client knows that it must open no more streams. */
  #refuseNewStreams(): void {
    if (this.#lastAcceptedId !== UINT31_MAX) {
      return;
    }
    this.#lastAcceptedId = this.#streams.lastId;
    this.#times.onFinalGoAway();
    this.#sender.sendGoAway(this.#lastAcceptedId, ErrorCode.NoError, this.#reasonWhenDrained);
    this.#reasonToEnd = this.#reasonWhenDrained;
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#closeResult === null && this.#reasonToEnd !== null && this.#streams.size === 0) {
      this.#end({ reason: this.#reasonToEnd, code: ErrorCode.NoError });
    }
  }

  #end(result: CloseResult): void {
    this.#closeResult = result;
    this.#receiver.stop();
    const code = result.code === ErrorCode.NoError ? ErrorCode.Cancel : result.code;
    const streams = [...this.#streams.values()];
    for (const stream of streams) {
      this.#streams.end(stream.id);
      this.#forget(stream);
    }
    for (const stream of streams) {
      stream.handler.onReset(stream, code);
    }
    this.#counters.connectionsClosed++;
    this.#counters.closedConnections[result.reason]++;
    this.#handler.onClosed(result);
    this.#onOutput();
  }
}

function canAnswer(stream: ServerStream): boolean {
  return stream.isOpen && !stream.isEnding;
}

function isAt(expected: Uint8Array, bytes: Uint8Array, from: number): boolean {
  for (let place = 0; place < PING_BYTES; place++) {
    if (bytes[from + place] !== expected[place]) {
      return false;
    }
  }
  return true;
}
