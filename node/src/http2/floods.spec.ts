/**
 * Clients that do too much of something. Each is stopped with the right reason. Until then the connection uses no more
 * memory than its limits allow, by its own count of bytes.
 */
import { expect } from "chai";
import {
  data,
  Flag,
  FrameType,
  frame,
  GRPC_REQUEST,
  type HandlerCall,
  LinkedConnection,
  type LinkOptions,
  ping,
  priority,
  rstStream,
  SETTINGS_ACK,
  Setting,
  settings,
  windowUpdate,
} from "../../test/http2/index.ts";
import type { CloseReason } from "./close-reason.ts";
import { ErrorCode } from "./error-code.ts";
import { DEFAULT_HTTP2_LIMITS, type FloodKind } from "./limits.ts";

const KIBIBYTE = 1024;
const FIELDS = Object.freeze([":status", "200"]);
const TRAILERS = Object.freeze(["grpc-status", "0"]);
const MISSED_DEADLINE = Object.freeze([":status", "200", "grpc-status", "4"]);
const NOTHING = Buffer.alloc(0);

/** Sends parts until the connection ends. Returns how many it took, including the last one. */
function sendUntilClosed(link: LinkedConnection, partOf: (at: number) => Buffer, countMax: number): number {
  for (let at = 0; at < countMax; at++) {
    link.send(partOf(at));
    if (link.connection.closeResult !== null) {
      return at + 1;
    }
  }
  throw new Error(`The connection is open after ${countMax} parts`);
}

describe("a flood", () => {
  interface Flood {
    readonly kind: FloodKind;
    readonly reason: CloseReason;
    /** The repeated action of the client. */
    readonly part: (link: LinkedConnection, at: number) => Buffer;
    readonly options?: LinkOptions;
    /** How many parts the first one pays for, as it has a request; 0 by default. */
    readonly paid?: number;
  }
  const stream = (at: number) => 2 * at + 1;
  const request = (link: LinkedConnection, at: number, flags = 0) =>
    link.encoder.headers(stream(at), GRPC_REQUEST, flags);
  const floods: Readonly<Record<string, Flood>> = {
    "of requests that are reset at once": {
      ...({ kind: "resets", reason: "too-many-resets" } as const),
      part: (link, at) => Buffer.concat([request(link, at), rstStream(stream(at), ErrorCode.Cancel)]),
    },
    "of streams above the limit": {
      ...({ kind: "refusedStreams", reason: "too-many-refused-streams" } as const),
      part: (link, at) => request(link, at + 1),
      options: { limits: { concurrentStreams: 0 } },
    },
    "of requests that the server must reset, as they are malformed": {
      ...({ kind: "streamErrors", reason: "too-many-stream-errors" } as const),
      part: (link, at) => link.encoder.headers(stream(at), ["x", "1"]),
    },
    "of streams that the server must reset, as their windows are wrong": {
      ...({ kind: "streamErrors", reason: "too-many-stream-errors" } as const),
      part: (link, at) => Buffer.concat([request(link, at), windowUpdate(stream(at), 0)]),
    },
    "of DATA for a stream that has ended": {
      ...({ kind: "streamErrors", reason: "too-many-stream-errors" } as const),
      part: (link, at) => Buffer.concat([request(link, at, Flag.EndStream), data(stream(at), "a")]),
    },
    "of SETTINGS": {
      kind: "settings",
      reason: "too-many-settings",
      part: () => settings([Setting.InitialWindowSize, 1]),
    },
    "of PING": { kind: "pings", reason: "too-many-pings", part: () => ping("12345678") },
    "of DATA without a byte": {
      ...({ kind: "emptyData", reason: "too-many-empty-data" } as const),
      part: (link, at) => (at === 0 ? Buffer.concat([request(link, 0), data(1, "")]) : data(1, "")),
    },
    "of DATA with nothing but padding": {
      ...({ kind: "emptyData", reason: "too-many-empty-data" } as const),
      part: (link, at) =>
        Buffer.concat([at === 0 ? request(link, 0) : NOTHING, frame(FrameType.Data, Flag.Padded, 1, Buffer.alloc(1))]),
    },
    "of small WINDOW_UPDATEs for the connection": {
      ...({ kind: "smallWindowUpdates", reason: "too-many-small-window-updates" } as const),
      part: () => windowUpdate(0, 1),
    },
    "of small WINDOW_UPDATEs for a stream": {
      ...({ kind: "smallWindowUpdates", reason: "too-many-small-window-updates" } as const),
      part: (link, at) => Buffer.concat([at === 0 ? request(link, 0) : NOTHING, windowUpdate(1, 1_023)]),
      paid: 2,
    },
    "of PRIORITY": { kind: "ignoredFrames", reason: "too-many-ignored-frames", part: () => priority(1, 3) },
    "of unknown frames": { kind: "ignoredFrames", reason: "too-many-ignored-frames", part: () => frame(77, 0, 0) },
    "of acknowledgements": { kind: "ignoredFrames", reason: "too-many-ignored-frames", part: () => SETTINGS_ACK },
    "of PING acknowledgements": {
      ...({ kind: "ignoredFrames", reason: "too-many-ignored-frames", part: () => ping("", Flag.Ack) } as const),
    },
    "of RST_STREAM for streams that have ended": {
      ...({ kind: "ignoredFrames", reason: "too-many-ignored-frames" } as const),
      part: (link, at) =>
        Buffer.concat([at === 0 ? request(link, 0) : rstStream(1, 0), at === 0 ? rstStream(1, 0) : NOTHING]),
      paid: 1,
    },
  };
  for (const [title, { kind, reason, part, options = {}, paid = 0 }] of Object.entries(floods)) {
    it(`${title} ends the connection when its burst is over`, () => {
      const burst = 20;
      const link = LinkedConnection.established({
        ...options,
        limits: {
          ...options.limits,
          floods: { ...DEFAULT_HTTP2_LIMITS.floods, [kind]: { burst, perSecond: 5 } },
        },
      });
      // The client's SETTINGS are the first of the burst, and the first part may not count yet.
      const count = sendUntilClosed(link, (at) => part(link, at), 30) - paid;
      expect(count).to.be.within(burst, burst + 2);
      expect(link.connection.closeResult).to.deep.equal({ reason, code: ErrorCode.EnhanceYourCalm });
      expect(link.counters.closedConnections[reason]).to.equal(1);
      expect(link.callsOf("closed").length).to.equal(1);
    });

    it(`${title} does not end a connection that is slow enough`, () => {
      const link = LinkedConnection.established({
        ...options,
        limits: {
          ...options.limits,
          keepaliveMs: Number.POSITIVE_INFINITY,
          unreadBytes: 10_000_000,
          floods: { ...DEFAULT_HTTP2_LIMITS.floods, [kind]: { burst: 3, perSecond: 2 } },
        },
      });
      for (let at = 0; at < 100; at++) {
        link.send(part(link, at));
        link.take();
        link.nowMs += 600;
      }
      expect(link.connection.closeResult).to.equal(null);
    });
  }

  it("are not small updates of a client that is ahead by some, and sends two for each DATA frame from then on", () => {
    const ahead = 20;
    const paidByTheRequest = 2;
    const link = LinkedConnection.established({
      limits: {
        unreadBytes: 10_000_000,
        floods: { ...DEFAULT_HTTP2_LIMITS.floods, smallWindowUpdates: { burst: ahead, perSecond: 0.001 } },
      },
    });
    link.request(1, GRPC_REQUEST);
    link.connection.respond(link.stream(1), FIELDS);
    for (let at = 0; at < ahead + paidByTheRequest; at++) {
      link.send(windowUpdate(1, 5));
    }
    for (let at = 0; at < 10 * ahead; at++) {
      link.connection.write(link.stream(1), Buffer.alloc(5));
      link.take();
      link.send(windowUpdate(0, 5), windowUpdate(1, 5));
    }
    expect(link.connection.closeResult).to.equal(null);
  });

  it("are not two small updates for each request whose answer has no DATA", () => {
    const link = LinkedConnection.established({
      limits: { floods: { ...DEFAULT_HTTP2_LIMITS.floods, smallWindowUpdates: { burst: 1, perSecond: 0.001 } } },
      onCall: (call, own) => call.call === "end" && own.connection.end(own.stream(call.id), FIELDS),
    });
    for (let at = 0; at < 1_000; at++) {
      const id = 2 * at + 1;
      link.send(
        link.encoder.headers(id, GRPC_REQUEST),
        windowUpdate(id, 5),
        windowUpdate(0, 5),
        data(id, NOTHING, Flag.EndStream),
      );
      link.take();
    }
    expect(link.connection.closeResult).to.equal(null);
  });

  it("are not streams of answers that the client ends, after it got a message, as fast as it begins them", () => {
    const link = LinkedConnection.established({
      limits: { floods: { ...DEFAULT_HTTP2_LIMITS.floods, resets: { burst: 1, perSecond: 0.001 } } },
      onCall: (call, own) => {
        if (call.call === "end") {
          own.connection.respond(own.stream(call.id), FIELDS);
          own.connection.write(own.stream(call.id), Buffer.from("created"));
        }
      },
    });
    for (let at = 0; at < 1_000; at++) {
      link.request(stream(at), GRPC_REQUEST, Flag.EndStream);
      link.take();
      link.send(rstStream(stream(at), ErrorCode.Cancel));
    }
    expect(link.connection.closeResult).to.equal(null);
    expect(link.counters.resetsReceived).to.equal(1_000);
  });

  it("are not calls whose deadlines pass on both sides: the client resets each stream that has just ended", () => {
    const link = LinkedConnection.established({
      limits: { floods: { ...DEFAULT_HTTP2_LIMITS.floods, ignoredFrames: { burst: 1, perSecond: 0.001 } } },
      onCall: (call, own) => call.call === "end" && own.connection.end(own.stream(call.id), MISSED_DEADLINE),
    });
    for (let at = 0; at < 1_000; at++) {
      link.request(stream(at), GRPC_REQUEST, Flag.EndStream);
      link.send(rstStream(stream(at), ErrorCode.Cancel));
      link.take();
    }
    expect(link.connection.closeResult).to.equal(null);
  });

  it("are not the windows of streams that end before the client returns the bytes of their last DATA", () => {
    const link = LinkedConnection.established({
      limits: { floods: { ...DEFAULT_HTTP2_LIMITS.floods, ignoredFrames: { burst: 1, perSecond: 0.001 } } },
      onCall: (call, own) =>
        call.call === "end" &&
        own.connection.answer(own.stream(call.id), FIELDS, NOTHING, Buffer.alloc(30_000), TRAILERS),
    });
    for (let at = 0; at < 1_000; at++) {
      link.request(stream(at), GRPC_REQUEST, Flag.EndStream);
      link.take();
      link.send(windowUpdate(0, 30_000), windowUpdate(stream(at), 16_384), windowUpdate(stream(at), 13_616));
    }
    expect(link.connection.closeResult).to.equal(null);
  });

  it("of endless CONTINUATION is stopped by the number of frames, and by bytes", () => {
    for (const [bytes, reason] of [
      [0, "too-many-continuations"],
      [10, "too-many-continuations"],
      [16_000, "header-block-too-large"],
    ] as const) {
      const link = LinkedConnection.established();
      link.send(frame(FrameType.Headers, 0, 1));
      const part = frame(FrameType.Continuation, 0, 1, Buffer.alloc(bytes));
      let heldMax = 0;
      const count = sendUntilClosed(
        link,
        () => {
          heldMax = Math.max(heldMax, link.connection.bufferedBytes.incomplete);
          return part;
        },
        100,
      );
      expect(count).to.be.at.most(33);
      expect(heldMax).to.be.at.most(64 * KIBIBYTE);
      expect(link.connection.closeResult).to.deep.equal({ reason, code: ErrorCode.EnhanceYourCalm });
      expect(link.connection.bufferedBytes.incomplete).to.equal(0);
    }
  });

  it("of references to one long field makes no long list", () => {
    const link = LinkedConnection.established();
    link.request(1, [...GRPC_REQUEST, "x", "v".repeat(3_000)], Flag.EndStream);
    // Each byte is a field of 3,000.
    const bomb = Buffer.concat([link.encoder.block(GRPC_REQUEST), Buffer.alloc(16_000, 0x80 | 62)]);
    link.send(frame(FrameType.Headers, Flag.EndHeaders | Flag.EndStream, 3, bomb));
    expect(link.counters.refusedStreams["header-list-too-large"]).to.equal(1);
    expect(link.connection.closeResult).to.equal(null);
  });

  it("of bytes that are not consumed is stopped by the windows", () => {
    const limits = { streamUnreadBytes: 65_535, unreadBytes: 200_000 };
    const link = LinkedConnection.established({ consumes: false, limits });
    let heldMax = 0;
    const count = sendUntilClosed(
      link,
      (at) => {
        heldMax = Math.max(heldMax, link.connection.bufferedBytes.unread);
        const id = 2 * Math.floor(at / 4) + 1;
        return Buffer.concat([
          at % 4 === 0 ? link.encoder.headers(id, GRPC_REQUEST) : NOTHING,
          data(id, Buffer.alloc(16_000)),
        ]);
      },
      100,
    );
    expect(count).to.equal(13);
    expect(heldMax).to.be.at.most(limits.unreadBytes);
    expect(link.connection.closeResult?.reason).to.equal("window-overrun");
  });

  it("of PINGs whose answers are not read makes the connection stop reading", () => {
    const link = LinkedConnection.established({ limits: { unwrittenBytes: 10_000 } });
    let sent = 0;
    while (link.connection.isReading) {
      link.send(Buffer.concat(Array.from({ length: 100 }, () => ping(""))));
      sent++;
    }
    expect(sent).to.equal(6);
    // The limit is exceeded by at most the bytes that a client sends at once.
    expect(link.connection.bufferedBytes.unwritten).to.be.within(10_000, 10_000 + 1_700);
    link.take();
    expect(link.connection.isReading).to.equal(true);
  });
});

describe("a slow reader", () => {
  const limits = { concurrentStreams: 100, unwrittenBytes: 20_000, queuedBytes: 100_000, streamQueuedBytes: 30_000 };
  const BODY = Buffer.alloc(10_000);

  const answerWhenAllowed = (call: HandlerCall, own: LinkedConnection) => {
    if (call.call === "writable" || (call.call === "end" && own.connection.mayAnswer(own.stream(call.id)))) {
      own.connection.answer(own.stream(call.id), FIELDS, NOTHING, BODY, TRAILERS);
    }
  };

  it("with empty windows gets no further answers made, and queues at most one answer per stream", () => {
    const link = LinkedConnection.established({ limits, onCall: answerWhenAllowed }, [Setting.InitialWindowSize, 0]);
    for (let at = 0; at < 90; at++) {
      link.request(2 * at + 1, GRPC_REQUEST, Flag.EndStream);
      link.take();
    }
    expect(link.connection.bufferedBytes.queued).to.equal(limits.queuedBytes);
    expect([...link.streams.values()].filter(({ hasResponded }) => hasResponded).length).to.equal(10);
    expect(link.connection.closeResult).to.equal(null);
  });

  it("that asks for more than it takes for a while gets all answers in the end", () => {
    const link = LinkedConnection.established({ limits, onCall: answerWhenAllowed });
    const ids = Array.from({ length: 90 }, (_, at) => 2 * at + 1);
    for (const id of ids) {
      link.request(id, GRPC_REQUEST, Flag.EndStream);
      link.take();
    }
    // Its windows of 64 KiB are full: the others wait.
    expect(link.connection.streamCount).to.be.greaterThan(80);
    let heldMax = 0;
    for (let round = 0; link.connection.streamCount > 0 && round < 200; round++) {
      link.send(windowUpdate(0, 10_000));
      link.take();
      heldMax = Math.max(heldMax, link.connection.bufferedBytes.queued);
    }
    const ended = link.received.frames.filter(
      ({ type, flags }) => type === FrameType.Headers && flags & Flag.EndStream,
    );
    expect(ended.map(({ streamId }) => streamId)).to.have.members(ids);
    expect(heldMax).to.be.at.most(limits.queuedBytes);
    expect(link.counters.resetsSent).to.equal(0);
  });

  it("that takes nothing from its socket makes the connection stop reading, within the limits of its streams", () => {
    const link = LinkedConnection.established({
      limits,
      onCall: (call, own) =>
        call.call === "end" && own.connection.answer(own.stream(call.id), FIELDS, NOTHING, BODY, TRAILERS),
    });
    let requests = 0;
    while (link.connection.isReading) {
      link.request(2 * requests + 1, GRPC_REQUEST, Flag.EndStream);
      requests++;
    }
    const { queued, unwritten } = link.connection.bufferedBytes;
    expect(requests).to.equal(2);
    expect(queued + unwritten).to.be.at.most(limits.unwrittenBytes + 2 * BODY.length);
  });

  it("of a long stream queues up to the limit, and its writer is called when it can write again", () => {
    const writeAll = (own: LinkedConnection) => {
      while (own.connection.write(own.stream(1), BODY) === "taken") {
        // Until it is full.
      }
    };
    let heldMax = 0;
    const link = LinkedConnection.established({
      limits,
      onCall: (call, own) => call.call === "writable" && writeAll(own),
    });
    link.request(1, GRPC_REQUEST, Flag.EndStream);
    link.connection.respond(link.stream(1), FIELDS);
    writeAll(link);
    for (let at = 0; at < 50; at++) {
      link.take();
      link.send(windowUpdate(0, 30_000), windowUpdate(1, 30_000));
      const { queued, unwritten } = link.connection.bufferedBytes;
      heldMax = Math.max(heldMax, queued + unwritten);
    }
    expect(link.callsOf("writable").length).to.be.greaterThan(20);
    // A limit is exceeded by at most one frame or one write.
    expect(heldMax).to.be.at.most(limits.unwrittenBytes + 16_384 + limits.streamQueuedBytes + BODY.length);
  });

  it("that resets its streams frees all of their bytes", () => {
    const link = LinkedConnection.established(
      {
        limits,
        onCall: (call, own) =>
          call.call === "end" && own.connection.answer(own.stream(call.id), FIELDS, NOTHING, BODY, TRAILERS),
      },
      [Setting.InitialWindowSize, 10],
    );
    for (let at = 0; at < 200; at++) {
      link.request(2 * at + 1, GRPC_REQUEST, Flag.EndStream);
      link.send(rstStream(2 * at + 1, ErrorCode.Cancel));
      link.take();
    }
    expect([link.connection.bufferedBytes.queued, link.connection.streamCount]).to.deep.equal([0, 0]);
    expect(link.counters.streamsOpened).to.equal(200);
    expect(link.counters.streamsClosed).to.equal(200);
  });
});
