/**
 * One connection of a fuzz test: a script as the client, and a user of the server that does everything that a user can
 * do, now or later. It checks the rules that hold for any client, and throws an error where one is broken.
 *
 * The actions of the user follow from the streams and from the seed alone, so that the same bytes lead to the same end
 * however they are cut.
 */
import { DEFAULT_HTTP2_LIMITS, ErrorCode, type Http2Limits, type ServerStream } from "../../src/http2/index.ts";
import { Dice } from "./dice.ts";
import { CLIENT_PREFACE, Flag, FrameType, settings } from "./frames.ts";
import { type HandlerCall, LinkedConnection } from "./linked-connection.ts";
import type { ReceivedFrame } from "./received-frames.ts";

const FIELDS = Object.freeze([":status", "200", "content-type", "application/grpc"]);
const TRAILERS = Object.freeze(["grpc-status", "0"]);
const HEAD = Buffer.from("12345");
const ANSWER_BYTES = [0, 1, 100, 5_000, 40_000];
/** How much a connection may hold above a bound: one answer for each stream, and the data of one call of the socket. */
const FRAME_BYTES_MAX = 9 + 16_384;

/** Bounds that are small enough to be reached. */
export const SMALL_LIMITS: Partial<Http2Limits> = {
  concurrentStreams: 10,
  headerListBytes: 1_000,
  continuationFrames: 5,
  streamUnreadBytes: 65_535,
  unreadBytes: 100_000,
  streamQueuedBytes: 20_000,
  queuedBytes: 60_000,
  unwrittenBytes: 30_000,
  floods: { ...DEFAULT_HTTP2_LIMITS.floods, resets: { burst: 3, perSecond: 0 }, settings: { burst: 5, perSecond: 1 } },
};
/** Windows that are never refilled: the time of that depends on how the bytes are cut. */
export const WIDE_LIMITS: Partial<Http2Limits> = {
  streamUnreadBytes: 0x7fff_ffff,
  unreadBytes: 0x7fff_ffff,
  unwrittenBytes: Number.POSITIVE_INFINITY,
};

export class FuzzConnection {
  readonly link: LinkedConnection;
  readonly #limits: Http2Limits;
  readonly #seed: number;
  readonly #actsOnData: boolean;
  /** Actions of the user after the present frame. */
  #later: (() => void)[] = [];
  /** The last call for each stream. */
  readonly #lastCalls = new Map<number, HandlerCall["call"]>();
  #isClosed = false;
  #checkedFrames = 0;
  /** The state of the server's side of each stream. */
  readonly #answers = new Map<number, "begun" | "ended" | "reset">();

  /** @param actsOnData whether the user acts in calls whose number depends on how the bytes are cut. */
  constructor(seed: number, limits: Partial<Http2Limits>, cutBytes: number, actsOnData = true) {
    this.#seed = seed;
    this.#actsOnData = actsOnData;
    this.#limits = { ...DEFAULT_HTTP2_LIMITS, ...limits };
    this.link = new LinkedConnection({
      limits,
      cutBytes,
      consumes: seed % 2 === 0,
      onCall: (call) => this.#onCall(call),
    });
    this.link.send(CLIENT_PREFACE, settings());
  }

  /** The client sends bytes, and the user performs its delayed actions. */
  send(bytes: Uint8Array): void {
    this.link.send(bytes);
    for (const act of this.#later.splice(0)) {
      act();
    }
  }

  /** The socket writes everything that is there. */
  take(): void {
    this.link.take();
    this.check();
  }

  /** Throws an error if the connection holds too much, or has sent a wrong frame. */
  check(): void {
    const { unread, incomplete, queued, unwritten } = this.link.connection.bufferedBytes;
    const { unreadBytes, headerListBytes, queuedBytes, unwrittenBytes, concurrentStreams } = this.#limits;
    ensure(unread <= unreadBytes, `${unread} bytes are unread`);
    ensure(incomplete <= 4 * headerListBytes + FRAME_BYTES_MAX, `${incomplete} bytes are incomplete`);
    ensure(queued <= queuedBytes + concurrentStreams * 50_000, `${queued} bytes are queued`);
    // The answers to one input of the client, and the first and last fields of each stream.
    ensure(unwritten <= unwrittenBytes + 4 * FRAME_BYTES_MAX, `${unwritten} bytes are unwritten`);
    const { streamsOpened, streamsClosed } = this.link.counters;
    ensure(streamsOpened - streamsClosed === this.link.connection.streamCount, "streams are counted");
    ensure(this.link.connection.streamCount <= concurrentStreams, "no more streams are open than may be");
    for (; this.#checkedFrames < this.link.received.frames.length; this.#checkedFrames++) {
      this.#checkFrame(this.link.received.frames[this.#checkedFrames] as ReceivedFrame);
    }
  }

  /** The result of the bytes as text: the calls, with the parts of DATA as one, and the frames. */
  transcript(): string {
    const lines: string[] = [];
    let bytes = "";
    for (const [at, call] of this.link.calls.entries()) {
      const next = this.link.calls[at + 1];
      if (call.call === "data") {
        bytes += call.bytes;
        if (next?.call === "data" && next.id === call.id) {
          continue;
        }
      }
      lines.push(JSON.stringify(call.call === "data" ? { ...call, bytes } : call));
      bytes = "";
    }
    for (const { type, flags, streamId, payload } of this.link.received.frames) {
      lines.push(`${type} ${flags} ${streamId} ${payload.toString("base64")}`);
    }
    return lines.join("\n");
  }

  #onCall(call: HandlerCall): void {
    ensure(!this.#isClosed, "nothing is called after the end");
    if (call.call === "closed") {
      this.#isClosed = true;
      ensure(this.link.connection.streamCount === 0, "no stream is open after the end");
      return;
    }
    const last = this.#lastCalls.get(call.id);
    ensure((call.call === "request") === (last === undefined), "a request is the first call, and only that");
    ensure(last !== "reset", "nothing is called after a reset");
    ensure(last !== "end" || call.call === "reset" || call.call === "writable", "an end is an end");
    if (call.call !== "writable") {
      this.#lastCalls.set(call.id, call.call);
    }
    const dice = new Dice(this.#seed * 31 + call.id * 7 + call.call.length);
    // A handler gets its stream only when the call that opens it has returned.
    if (call.call === "request") {
      this.#later.push(() => this.#actOn(call.id, dice, "request"));
    } else if (call.call !== "data" || this.#actsOnData) {
      this.#actOn(call.id, dice, call.call);
    }
  }

  #actOn(id: number, dice: Dice, call: HandlerCall["call"]): void {
    const stream = this.link.stream(id);
    const isLate = dice.once(3);
    const act = (): void => this.#act(stream, dice, call);
    if (isLate) {
      this.#later.push(act);
    } else {
      act();
    }
  }

  #act(stream: ServerStream, dice: Dice, call: HandlerCall["call"]): void {
    const { connection } = this.link;
    const body = Buffer.alloc(dice.pick(ANSWER_BYTES), String(stream.id));
    if (dice.once(400)) {
      connection.close();
    } else if (call === "end") {
      if (stream.hasResponded) {
        connection.end(stream, dice.pick([TRAILERS, []]));
      } else if (!dice.once(5)) {
        connection.answer(stream, FIELDS, HEAD, body, TRAILERS);
      }
    } else if (call === "request" && dice.once(4) && !stream.hasResponded) {
      connection.respond(stream, FIELDS);
      connection.write(stream, HEAD, body);
    } else if (call === "request" && dice.once(10) && !stream.hasResponded) {
      connection.end(stream, [":status", "200", "grpc-status", "7", "grpc-message", String(stream.id)]);
    } else if (call === "writable") {
      connection.write(stream, HEAD, body);
    } else if (dice.once(30)) {
      connection.reset(stream, dice.pick([ErrorCode.NoError, ErrorCode.InternalError, ErrorCode.Cancel]));
    } else if (call === "data" && dice.once(3)) {
      connection.consume(stream, stream.unreadBytes);
    }
  }

  #checkFrame({ type, flags, streamId, payload, fields }: ReceivedFrame): void {
    const state = this.#answers.get(streamId);
    if (type === FrameType.Headers) {
      ensure(state === undefined || state === "begun", "an answer has an end");
      ensure((state === undefined) === (fields?.[0] === ":status"), "an answer begins with :status, once");
      ensure(state === undefined || (flags & Flag.EndStream) !== 0, "trailers end an answer");
      this.#answers.set(streamId, (flags & Flag.EndStream) !== 0 ? "ended" : "begun");
    } else if (type === FrameType.Data) {
      ensure(state === "begun", "bytes are between the fields of an answer");
      ensure(payload.length <= 16_384, "a frame is not too long");
      this.#answers.set(streamId, (flags & Flag.EndStream) !== 0 ? "ended" : "begun");
    } else if (type === FrameType.RstStream) {
      // An ended stream is reset again if the client still sends something on it.
      this.#answers.set(streamId, "reset");
    }
  }
}

function ensure(isTrue: boolean, rule: string): void {
  if (!isTrue) {
    throw new Error(`Broken: ${rule}`);
  }
}
