/**
 * A call on an HTTP/2 stream, from its headers to its last trailer.
 *
 * Data of the request that arrive before the headers are admitted wait; the flow control windows bound them. Answers
 * leave with the other output of their connection at the end of the turn.
 */
import type { ServerConnection, ServerStream, StreamHandler } from "../../http2/index.ts";
import type { Replayed } from "../../state/index.ts";
import {
  allowedMs,
  type CallHandler,
  type CallPort,
  type CallStatus,
  type ClientConnection,
  IncomingCall,
  malformedTimeout,
  status,
} from "../calls/index.ts";
import { OK_TRAILERS, RESPONSE_FIELDS, statusFields } from "./answer-fields.ts";
import { timeoutMsOf } from "./grpc-timeout.ts";
import { PREFIX_BYTES, RequestReader, type RequestUser } from "./request-reader.ts";
import type { RequestSink, WireMethod } from "./wire-method.ts";

/** What all calls of a connection share. */
export interface CallSurroundings {
  readonly port: CallPort;
  readonly client: ClientConnection;
  readonly connection: ServerConnection;
}

/** A message that waits because the stream is full. */
interface WaitingMessage {
  readonly bytes: Uint8Array;
  readonly taken: () => void;
}

/** The prefix of the message that is being sent. The connection copies it. */
const prefix = Buffer.alloc(PREFIX_BYTES);
/** The fields that the end of a call is reported with. */
const REPORTED_FIELDS: ReadonlySet<string> = new Set(["request-id", "traceparent"]);
/** Characters of such a field; longer ones are not valid. */
const REPORTED_CHARACTERS_MAX = 256;

export class WireCall extends IncomingCall implements StreamHandler, RequestUser {
  readonly #surroundings: CallSurroundings;
  readonly #stream: ServerStream;
  #fields: readonly string[];
  readonly #served: WireMethod;
  readonly #reader: RequestReader;
  #isAdmitted = false;
  /** Bytes of the request that arrived before that. */
  #unconsumed = 0;
  /** The message of a request that may have only one. */
  #message: Buffer | null = null;
  #sink: RequestSink | null = null;
  #isEnded = false;
  #waiting: WaitingMessage[] | null = null;
  /** The status to send after the messages that wait. */
  #lastStatus: CallStatus | null = null;

  /** @param timeout the field grpc-timeout; `encoding` is the field grpc-encoding. */
  constructor(
    surroundings: CallSurroundings,
    method: WireMethod,
    stream: ServerStream,
    fields: readonly string[],
    { timeout, encoding }: { readonly timeout: string | undefined; readonly encoding: string | undefined },
  ) {
    super(surroundings.port, method, surroundings.client, timeoutMsOf(timeout));
    this.#surroundings = surroundings;
    this.#stream = stream;
    this.#fields = fields;
    this.#served = method;
    this.#reader = new RequestReader(this, encoding, method.requestStream ? Number.POSITIVE_INFINITY : 1);
  }

  /** Checks the headers. */
  begin(): void {
    if (this.isGone) {
      return;
    }
    if (this.timeoutMs === null) {
      this.refuseHeaders(malformedTimeout());
    } else {
      this.receiveHeaders();
    }
  }

  values(name: string): readonly string[] {
    const fields = this.#fields;
    const found: string[] = [];
    for (let at = 0; at < fields.length; at += 2) {
      if (fields[at] === name) {
        found.push(fields[at + 1] as string);
      }
    }
    return found;
  }

  answer(response: unknown, replayed: Replayed): void {
    if (this.isGone) {
      return;
    }
    const body = this.encoded(response as never, this.#served.serialize);
    if (body === null) {
      return;
    }
    this.#isEnded = true;
    this.stopTimer();
    this.countEnd(status.OK, "");
    writePrefix(body.length);
    const { connection } = this.#surroundings;
    connection.answer(this.#stream, RESPONSE_FIELDS[replayed], prefix, body, OK_TRAILERS);
  }

  send(message: Uint8Array, taken: () => void): void {
    if (this.isGone) {
      return;
    }
    if (!this.#stream.hasResponded) {
      this.#surroundings.connection.respond(this.#stream, RESPONSE_FIELDS.no);
    }
    if (this.#waiting !== null) {
      this.#waiting.push({ bytes: message, taken });
    } else {
      this.#write({ bytes: message, taken });
    }
  }

  end(answer: CallStatus): void {
    if (this.isGone) {
      return;
    }
    this.#isEnded = true;
    this.#reader.stop();
    this.stopTimer();
    this.countEnd(answer.code, answer.reason);
    if (this.#waiting === null) {
      this.#sendStatus(answer);
    } else {
      this.#lastStatus = answer;
    }
  }

  onData(stream: ServerStream, bytes: Uint8Array, from: number, to: number): void {
    this.receiveBytes(to - from);
    if (this.isGone) {
      return;
    }
    this.#reader.read(bytes, from, to);
    if (this.#isAdmitted) {
      this.#surroundings.connection.consume(stream, to - from);
    } else {
      this.#unconsumed += to - from;
    }
  }

  onEnd(): void {
    this.#reader.end();
  }

  onReset(): void {
    this.#isEnded = true;
    this.#waiting = null;
    this.#reader.stop();
    this.stopTimer();
    this.finish();
    this.close();
  }

  onAnswered(): void {
    this.finish();
    this.close();
  }

  onWritable(): void {
    if (this.#message !== null) {
      this.#run();
      return;
    }
    const messages = this.#waiting ?? [];
    this.#waiting = null;
    for (const [at, message] of messages.entries()) {
      if (!this.#write(message)) {
        this.#waiting = messages.slice(at);
        return;
      }
    }
    if (this.#lastStatus !== null) {
      this.#sendStatus(this.#lastStatus);
    }
  }

  onMoreMemory(bytes: number): void {
    this.receiveBytes(bytes);
  }

  onMessage(message: Buffer): void {
    if (this.receiveMessage()) {
      if (this.#sink === null) {
        this.#message = message;
      } else {
        this.#sink.message(message);
      }
    }
  }

  onRequestEnd(isWhole: boolean): void {
    if (!isWhole) {
      this.refuseIncomplete();
    } else if (this.receiveEnd()) {
      if (this.#sink === null) {
        this.#start();
      } else {
        this.#sink.end();
      }
    }
  }

  onBadRequest(problem: CallStatus): void {
    this.end(problem);
  }

  protected get isGone(): boolean {
    return this.#isEnded || !this.#stream.isOpen;
  }

  protected pass(): void {
    this.#isAdmitted = true;
    const { open } = this.#served;
    if (open !== null) {
      this.attempt(() => {
        this.#sink = open(this);
      });
    }
    if (this.method.calls.mayWait) {
      // Its fields may be kilobytes, for as long as the client wants.
      this.#fields = reportedOf(this.#fields);
    }
    if (this.#unconsumed > 0) {
      this.#surroundings.connection.consume(this.#stream, this.#unconsumed);
    }
    // The sink may have ended the call.
    if (!this.isGone) {
      this.#reader.start();
    }
  }

  /**
   * Passes the request to the handler, or lets it wait while the client does not take the answers before it. A stream or
   * a wait for a lock begins at once: its answer may come late, and is small, or is sent as the client takes it.
   */
  #start(): void {
    if (this.method.calls.mayWait || this.#surroundings.connection.mayAnswer(this.#stream)) {
      this.#run();
    } else {
      this.endAfter(allowedMs(this.deadline, Date.now()));
    }
  }

  #run(): void {
    const message = this.#message as Buffer;
    this.#message = null;
    this.run(this.#served.handler as CallHandler<unknown>, message);
  }

  /** Sends a message. Returns false if the stream is full; the message then waits. */
  #write(message: WaitingMessage): boolean {
    writePrefix(message.bytes.length);
    const outcome = this.#surroundings.connection.write(this.#stream, prefix, message.bytes);
    if (outcome === "full") {
      this.#waiting ??= [];
      this.#waiting.push(message);
      return false;
    }
    if (outcome === "taken") {
      setImmediate(() => {
        if (!this.isGone) {
          message.taken();
        }
      });
    }
    return true;
  }

  #sendStatus(answer: CallStatus): void {
    const stream = this.#stream;
    this.#surroundings.connection.end(stream, statusFields(answer, !stream.hasResponded));
  }
}

function reportedOf(fields: readonly string[]): readonly string[] {
  const reported: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = [fields[at] as string, fields[at + 1] as string];
    if (REPORTED_FIELDS.has(name) && value.length <= REPORTED_CHARACTERS_MAX) {
      reported.push(name, value);
    }
  }
  return reported;
}

function writePrefix(length: number): void {
  prefix.writeUInt32BE(length, 1);
}
