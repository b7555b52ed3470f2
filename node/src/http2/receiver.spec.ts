/** Frames that a client must not send, and the effect on its stream or connection. */
import { expect } from "chai";
import {
  CLIENT_PREFACE,
  data,
  Flag,
  FrameType,
  frame,
  GRPC_REQUEST,
  goAway,
  type HandlerCall,
  LinkedConnection,
  paddedData,
  ping,
  priority,
  type ReceivedFrame,
  RequestEncoder,
  rstStream,
  SETTINGS_ACK,
  Setting,
  settings,
  windowUpdate,
  word,
} from "../../test/http2/index.ts";
import type { CloseReason, StreamRefusal } from "./close-reason.ts";
import { ErrorCode } from "./error-code.ts";

const UNARY = Flag.EndStream;

/** Returns the code of each RST_STREAM, as `stream: code`. */
function resetsOf(frames: readonly ReceivedFrame[]): readonly string[] {
  return frames
    .filter(({ type }) => type === FrameType.RstStream)
    .map(({ streamId, payload }) => `${streamId}: ${payload.readUInt32BE(0)}`);
}

/** Returns the contents of the last GOAWAY. */
function goAwayOf(frames: readonly ReceivedFrame[]): { readonly lastId: number; readonly code: number } | null {
  const payload = frames.findLast(({ type }) => type === FrameType.GoAway)?.payload;
  return payload === undefined ? null : { lastId: payload.readUInt32BE(0), code: payload.readUInt32BE(4) };
}

/** Calls without the fields of requests, as text. */
function textOf(calls: readonly HandlerCall[]): readonly string[] {
  return calls.map((call) => {
    switch (call.call) {
      case "data":
        return `${call.id} data ${call.bytes}`;
      case "end":
        return `${call.id} end ${call.trailers.join(" ")}`.trim();
      case "reset":
        return `${call.id} reset ${call.code}`;
      case "closed":
        return `closed ${call.closure.reason}`;
      default:
        return `${call.id} ${call.call}`;
    }
  });
}

describe("the receiving half of a connection", () => {
  it("passes a request on as it arrives", () => {
    const link = LinkedConnection.established();
    link.request(1, GRPC_REQUEST);
    link.send(data(1, "ab"), paddedData(1, "c", 9), data(1, "d", Flag.EndStream));
    expect(textOf(link.calls)).to.deep.equal(["1 request", "1 data ab", "1 data c", "1 data d", "1 end"]);
    expect(link.callsOf("request")[0]?.fields).to.deep.equal(GRPC_REQUEST);
  });

  it("passes on trailers", () => {
    const link = LinkedConnection.established();
    link.request(1, GRPC_REQUEST);
    link.send(data(1, "ab"), link.encoder.headers(1, ["checksum", "5"], Flag.EndStream));
    expect(textOf(link.calls)).to.deep.equal(["1 request", "1 data ab", "1 end checksum 5"]);
  });

  for (const bytes of [1, 7, 1_000]) {
    it(`assembles a header block from parts of ${bytes} bytes`, () => {
      const link = LinkedConnection.established({ limits: { continuationFrames: 200 } });
      for (const id of [1, 3]) {
        link.send(link.encoder.cutHeaders(id, GRPC_REQUEST, bytes, Flag.EndStream));
      }
      expect(textOf(link.calls)).to.deep.equal(["1 request", "1 end", "3 request", "3 end"]);
      expect(link.callsOf("request").map(({ fields }) => fields)).to.deep.equal([GRPC_REQUEST, GRPC_REQUEST]);
    });
  }

  it("finds a header block between padding and after a priority", () => {
    const link = LinkedConnection.established();
    const block = link.encoder.block(GRPC_REQUEST);
    const payload = Buffer.concat([Buffer.of(3), word(0), Buffer.of(16), block, Buffer.alloc(3)]);
    const flags = Flag.Padded | Flag.Priority | Flag.EndHeaders | Flag.EndStream;
    link.send(frame(FrameType.Headers, flags, 1, payload));
    expect(link.callsOf("request")[0]?.fields).to.deep.equal(GRPC_REQUEST);
  });

  it("answers SETTINGS and PING", () => {
    const link = LinkedConnection.established();
    link.send(settings(), ping("abcdefgh"));
    const answers = link.take();
    expect(answers.map(({ type, flags }) => [type, flags])).to.deep.equal([
      [FrameType.Settings, Flag.Ack],
      [FrameType.Ping, Flag.Ack],
    ]);
    expect(answers[1]?.payload.toString()).to.equal("abcdefgh");
  });

  it("ignores unknown frames and settings, and PRIORITY", () => {
    const link = LinkedConnection.established();
    link.send(frame(0x42, 0xff, 9, Buffer.alloc(20)), settings([0x99, 1]), priority(5, 3));
    link.request(1, GRPC_REQUEST, UNARY);
    expect(textOf(link.calls)).to.deep.equal(["1 request", "1 end"]);
  });

  it("lets the client refer to a table of exactly the announced size", () => {
    const link = LinkedConnection.established({ limits: { headerTableBytes: 0 } });
    const encoder = new RequestEncoder();
    link.send(encoder.headers(1, GRPC_REQUEST, UNARY));
    expect(textOf(link.calls)).to.deep.equal(["closed wrong-header-block"]);
  });

  describe("ends a connection", () => {
    type Sent = (link: LinkedConnection) => void;
    const sent =
      (...parts: readonly Buffer[]): Sent =>
      (link) =>
        link.send(...parts);
    const afterRequest =
      (...parts: readonly Buffer[]): Sent =>
      (link) => {
        link.request(1, GRPC_REQUEST);
        link.send(...parts);
      };
    const { ProtocolError, FrameSizeError, FlowControlError, CompressionError, StreamClosed } = ErrorCode;
    const cases: readonly (readonly [title: string, send: Sent, reason: CloseReason, code: number])[] = [
      ["a frame that is too long", sent(data(1, Buffer.alloc(16_385))), "wrong-frame", FrameSizeError],
      ["an unknown frame that is too long", sent(frame(99, 0, 0, Buffer.alloc(16_385))), "wrong-frame", FrameSizeError],
      ["PUSH_PROMISE", afterRequest(frame(FrameType.PushPromise, 0, 1, word(2))), "wrong-frame", ProtocolError],
      ["an even stream", (link) => link.request(2, GRPC_REQUEST), "wrong-frame", ProtocolError],
      ["DATA on a stream that is idle", sent(data(1, "a")), "wrong-stream", ProtocolError],
      ["RST_STREAM on a stream that is idle", sent(rstStream(1, 8)), "wrong-stream", ProtocolError],
      ["WINDOW_UPDATE on a stream that is idle", sent(windowUpdate(1, 2_000)), "wrong-stream", ProtocolError],
      ["DATA on an even stream", afterRequest(data(2, "a")), "wrong-stream", ProtocolError],
      [
        "PRIORITY of a wrong length on a stream that is idle",
        sent(frame(2, 0, 1, word(0))),
        "wrong-frame",
        FrameSizeError,
      ],
      ["CONTINUATION of nothing", afterRequest(frame(FrameType.Continuation, 4, 1)), "wrong-order", ProtocolError],
      [
        "SETTINGS within a header block",
        sent(frame(FrameType.Headers, 0, 1), settings()),
        "wrong-order",
        ProtocolError,
      ],
      [
        ...(["CONTINUATION of another stream"] as const),
        ...([sent(frame(FrameType.Headers, 0, 1), frame(FrameType.Continuation, 4, 3)), "wrong-order"] as const),
        ProtocolError,
      ],
      ["DATA with too much padding", afterRequest(frame(0, 8, 1, Buffer.of(3, 0, 0))), "wrong-padding", ProtocolError],
      ["HEADERS with too much padding", sent(frame(1, 8 | 4, 1, Buffer.of(3, 0, 0))), "wrong-padding", ProtocolError],
      [
        "a header block that cannot be decoded",
        sent(frame(1, 4, 1, Buffer.of(0xff, 0xff))),
        "wrong-header-block",
        CompressionError,
      ],
      ["WINDOW_UPDATE of nothing", sent(windowUpdate(0, 0)), "wrong-window-update", ProtocolError],
      ["a window above 2^31 - 1", sent(windowUpdate(0, 0x7fff_ffff)), "window-overflow", FlowControlError],
      ["a setting of a wrong value", sent(settings([Setting.EnablePush, 2])), "wrong-settings", ProtocolError],
      [
        ...(["a setting that makes the window of a stream too large"] as const),
        afterRequest(windowUpdate(1, 0x7fff_0000), settings([Setting.InitialWindowSize, 0x7fff_0000])),
        ...(["wrong-settings", FlowControlError] as const),
      ],
      [
        ...(["a stream below the last one, that was skipped"] as const),
        (link) => {
          link.request(5, GRPC_REQUEST, UNARY);
          link.request(3, GRPC_REQUEST, UNARY);
        },
        ...(["wrong-stream", ProtocolError] as const),
      ],
      [
        ...(["HEADERS on a stream that the client has reset"] as const),
        (link) => {
          link.request(1, GRPC_REQUEST);
          link.send(rstStream(1, ErrorCode.Cancel));
          link.request(1, GRPC_REQUEST);
        },
        ...(["wrong-stream", StreamClosed] as const),
      ],
    ];
    for (const [title, send, reason, code] of cases) {
      it(`for ${title}`, () => {
        const link = LinkedConnection.established();
        send(link);
        expect(link.connection.closeResult).to.deep.equal({ reason, code });
        expect(goAwayOf(link.take())?.code).to.equal(code);
        expect(link.callsOf("closed").length).to.equal(1);
        expect(link.counters.closedConnections[reason]).to.equal(1);
        const calls = link.calls.length;
        link.send(settings(), ping(""), link.encoder.headers(7, GRPC_REQUEST, UNARY));
        expect([link.calls.length, link.take()]).to.deep.equal([calls, []]);
      });
    }

    it("for a wrong preface", () => {
      const link = new LinkedConnection();
      link.send(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
      expect(link.connection.closeResult?.reason).to.equal("wrong-preface");
    });

    for (const [title, first] of [
      ["PING", ping("")],
      ["an acknowledgement", SETTINGS_ACK],
    ] as const) {
      it(`for ${title} before SETTINGS`, () => {
        const link = new LinkedConnection();
        link.send(CLIENT_PREFACE, first);
        expect(link.connection.closeResult?.reason).to.equal("wrong-order");
      });
    }

    it("for more bytes than its window allows", () => {
      const link = LinkedConnection.established({ consumes: false, limits: { unreadBytes: 65_535 } });
      for (const id of [1, 3]) {
        link.request(id, GRPC_REQUEST);
      }
      const part = data(1, Buffer.alloc(16_383));
      link.send(part, part, part, data(3, Buffer.alloc(16_383)), data(3, Buffer.alloc(3)));
      expect(link.connection.closeResult).to.equal(null);
      expect(link.connection.bufferedBytes.unread).to.equal(65_535);
      link.send(data(3, "a"));
      expect(link.connection.closeResult).to.deep.equal({ reason: "window-overrun", code: FlowControlError });
    });
  });

  describe("resets a stream", () => {
    type Sent = (link: LinkedConnection) => void;
    const { ProtocolError, FrameSizeError, FlowControlError, EnhanceYourCalm, StreamClosed, RefusedStream } = ErrorCode;
    const withFields = (...more: readonly string[]): Sent => {
      return (link) => link.request(1, [...GRPC_REQUEST, ...more]);
    };
    const afterRequest =
      (...parts: readonly Buffer[]): Sent =>
      (link) => {
        link.request(1, GRPC_REQUEST);
        link.send(...parts);
      };
    const cases: readonly (readonly [title: string, send: Sent, reason: StreamRefusal, code: number])[] = [
      ["a malformed request", withFields("connection", "close"), "malformed-request", ProtocolError],
      ["too many fields", withFields("x", "v".repeat(17_000)), "header-list-too-large", EnhanceYourCalm],
      [
        ...(["a request without a body that declares one"] as const),
        (link) => link.request(1, [...GRPC_REQUEST, "content-length", "1"], UNARY),
        ...(["wrong-content-length", ProtocolError] as const),
      ],
      [
        ...(["a body that is longer than declared"] as const),
        (link) => {
          withFields("content-length", "3")(link);
          link.send(data(1, "abcd"));
        },
        ...(["wrong-content-length", ProtocolError] as const),
      ],
      [
        ...(["a body that is shorter than declared"] as const),
        (link) => {
          withFields("content-length", "3")(link);
          link.send(data(1, "ab", Flag.EndStream));
        },
        ...(["wrong-content-length", ProtocolError] as const),
      ],
      [
        ...(["trailers after a body that is shorter than declared"] as const),
        (link) => {
          withFields("content-length", "3")(link);
          link.request(1, ["x", "1"], Flag.EndStream);
        },
        ...(["wrong-content-length", ProtocolError] as const),
      ],
      [
        ...(["trailers that do not end it"] as const),
        (link) => {
          link.request(1, GRPC_REQUEST);
          link.request(1, ["x", "1"]);
        },
        ...(["malformed-trailers", ProtocolError] as const),
      ],
      [
        ...(["trailers with a target"] as const),
        (link) => {
          link.request(1, GRPC_REQUEST);
          link.request(1, GRPC_REQUEST, Flag.EndStream);
        },
        ...(["malformed-trailers", ProtocolError] as const),
      ],
      [
        ...(["too many trailers"] as const),
        (link) => {
          link.request(1, GRPC_REQUEST);
          link.request(1, ["x", "v".repeat(17_000)], Flag.EndStream);
        },
        ...(["header-list-too-large", EnhanceYourCalm] as const),
      ],
      [
        ...(["DATA after the end of the request"] as const),
        (link) => {
          link.request(1, GRPC_REQUEST, Flag.EndStream);
          link.send(data(1, "a"));
        },
        ...(["closed-stream", StreamClosed] as const),
      ],
      [
        ...(["HEADERS after the end of the request"] as const),
        (link) => {
          link.request(1, GRPC_REQUEST, Flag.EndStream);
          link.request(1, ["x", "1"], Flag.EndStream);
        },
        ...(["closed-stream", StreamClosed] as const),
      ],
      ["DATA after RST_STREAM", afterRequest(rstStream(1, 8), data(1, "a")), "closed-stream", StreamClosed],
      ["WINDOW_UPDATE of nothing", afterRequest(windowUpdate(1, 0)), "wrong-window-update", ProtocolError],
      ["a window above 2^31 - 1", afterRequest(windowUpdate(1, 0x7fff_ffff)), "window-overflow", FlowControlError],
      ["PRIORITY of a wrong length", afterRequest(frame(2, 0, 1, word(0))), "wrong-priority-length", FrameSizeError],
      ["a priority below itself", afterRequest(priority(1, 1)), "wrong-priority", ProtocolError],
      [
        ...(["HEADERS with a priority below itself"] as const),
        (link) => {
          const payload = Buffer.concat([word(1), Buffer.of(1), link.encoder.block(GRPC_REQUEST)]);
          link.send(frame(FrameType.Headers, Flag.Priority | Flag.EndHeaders, 1, payload));
        },
        ...(["wrong-priority", ProtocolError] as const),
      ],
      [
        ...(["bytes above its window"] as const),
        afterRequest(...Array.from({ length: 5 }, () => data(1, Buffer.alloc(16_000)))),
        ...(["window-overrun", FlowControlError] as const),
      ],
      [
        ...(["a stream above the limit"] as const),
        (link) => {
          for (const id of [3, 5, 7]) {
            link.request(id, GRPC_REQUEST);
          }
        },
        ...(["too-many-streams", RefusedStream] as const),
      ],
    ];
    for (const [title, send, reason, code] of cases) {
      it(`for ${title}, and continues`, () => {
        const link = LinkedConnection.established({
          consumes: false,
          limits: { concurrentStreams: 2, streamUnreadBytes: 65_535 },
        });
        send(link);
        const frames = link.take();
        expect(resetsOf(frames)).to.deep.equal([`${reason === "too-many-streams" ? 7 : 1}: ${code}`]);
        expect(link.counters.refusedStreams[reason]).to.equal(1);
        expect(link.connection.closeResult).to.equal(null);
        if (link.connection.streamCount === 2) {
          link.send(rstStream(3, ErrorCode.Cancel));
        }
        link.request(9, GRPC_REQUEST, UNARY);
        expect(textOf(link.calls).slice(-2)).to.deep.equal(["9 request", "9 end"]);
      });
    }

    it("and calls its handler, if it has one", () => {
      const link = LinkedConnection.established();
      link.request(1, GRPC_REQUEST);
      link.send(windowUpdate(1, 0));
      expect(textOf(link.calls)).to.deep.equal(["1 request", `1 reset ${ProtocolError}`]);
      expect(link.connection.streamCount).to.equal(0);
    });
  });

  it("ignores frames for a stream that it has reset, except for the windows and the dynamic table", () => {
    const link = LinkedConnection.established({ limits: { unreadBytes: 65_535 } });
    link.request(1, GRPC_REQUEST);
    link.connection.reset(link.stream(1), ErrorCode.Cancel);
    link.take();
    const names = ["x-first", "1", "x-second", "2"];
    link.send(data(1, Buffer.alloc(16_000)), data(1, Buffer.alloc(16_000)), windowUpdate(1, 2_000), data(1, "a"));
    link.request(1, names, Flag.EndStream);
    link.send(paddedData(1, "", 200), data(1, Buffer.alloc(1_000)));
    const frames = link.take();
    expect(frames.map(({ type, streamId }) => [type, streamId])).to.deep.equal([[FrameType.WindowUpdate, 0]]);
    expect(frames[0]?.payload.readUInt32BE(0)).to.be.within(32_768, 33_300);
    // A block that refers to fields of the ignored block.
    link.request(3, [...GRPC_REQUEST, ...names], UNARY);
    expect(link.callsOf("request")[1]?.fields).to.deep.equal([...GRPC_REQUEST, ...names]);
  });

  it("calls the handler when the client has reset a stream", () => {
    const link = LinkedConnection.established();
    link.request(1, GRPC_REQUEST);
    link.send(rstStream(1, ErrorCode.Cancel), rstStream(1, ErrorCode.Cancel));
    expect(textOf(link.calls)).to.deep.equal(["1 request", `1 reset ${ErrorCode.Cancel}`]);
    expect([link.counters.resetsReceived, link.connection.streamCount]).to.deep.equal([1, 0]);
  });

  describe("gives bytes back to the client", () => {
    const limits = { streamUnreadBytes: 65_535, unreadBytes: 131_070 };
    const updatesOf = (frames: readonly ReceivedFrame[]) =>
      frames
        .filter(({ type }) => type === FrameType.WindowUpdate)
        .map(({ streamId, payload }) => `${streamId}: ${payload.readUInt32BE(0)}`);

    it("when they are consumed, and not before", () => {
      const link = LinkedConnection.established({ consumes: false, limits });
      link.request(1, GRPC_REQUEST);
      link.send(...Array.from({ length: 4 }, () => data(1, Buffer.alloc(16_383))));
      expect(updatesOf(link.take())).to.deep.equal([]);
      expect(link.connection.bufferedBytes.unread).to.equal(65_532);
      link.connection.consume(link.stream(1), 32_767);
      expect(updatesOf(link.take())).to.deep.equal([]);
      link.connection.consume(link.stream(1), 1);
      expect(updatesOf(link.take())).to.deep.equal(["1: 32768"]);
      link.connection.consume(link.stream(1), 32_764);
      expect(updatesOf(link.take())).to.deep.equal([]);
      link.send(data(1, "abc"));
      link.connection.consume(link.stream(1), 3);
      expect(updatesOf(link.take())).to.deep.equal(["0: 65535"]);
      expect(link.connection.bufferedBytes.unread).to.equal(0);
    });

    it("with those of padding", () => {
      const link = LinkedConnection.established({ limits });
      link.request(1, GRPC_REQUEST);
      link.send(...Array.from({ length: 200 }, () => paddedData(1, "", 255)));
      expect(updatesOf(link.take())).to.deep.equal(["1: 32768"]);
    });

    it("only to the connection after the end of the request", () => {
      const link = LinkedConnection.established({ consumes: false, limits: { ...limits, unreadBytes: 65_535 } });
      link.request(1, GRPC_REQUEST);
      link.send(...Array.from({ length: 3 }, () => data(1, Buffer.alloc(16_000))), data(1, "", Flag.EndStream));
      link.connection.consume(link.stream(1), 48_000);
      expect(updatesOf(link.take())).to.deep.equal(["0: 48000"]);
    });

    it("when their stream ends before they are consumed, also in the middle of a frame", () => {
      for (const rest of [0, 1_000]) {
        const link = LinkedConnection.established({ consumes: false, limits: { ...limits, unreadBytes: 65_535 } });
        link.request(1, GRPC_REQUEST);
        const bytes = Buffer.concat(Array.from({ length: 4 }, () => data(1, Buffer.alloc(16_000))));
        link.send(bytes.subarray(0, bytes.length - rest));
        link.connection.reset(link.stream(1), ErrorCode.Cancel);
        link.send(bytes.subarray(bytes.length - rest));
        expect(updatesOf(link.take())).to.deep.equal([`0: ${64_000 - rest}`]);
        expect(link.connection.bufferedBytes.unread).to.equal(0);
      }
    });

    it("unless more are consumed than were received", () => {
      const link = LinkedConnection.established({ consumes: false });
      link.request(1, GRPC_REQUEST);
      link.send(data(1, "abc"));
      expect(() => link.connection.consume(link.stream(1), 4)).to.throw(RangeError);
    });
  });

  it("ends when the client goes away and no stream is open", () => {
    const idle = LinkedConnection.established();
    idle.send(goAway(0, ErrorCode.NoError));
    expect(idle.connection.closeResult?.reason).to.equal("peer-went-away");

    const busy = LinkedConnection.established();
    busy.request(1, GRPC_REQUEST, UNARY);
    busy.send(goAway(0, ErrorCode.NoError));
    expect(busy.connection.closeResult).to.equal(null);
    busy.connection.end(busy.stream(1), [":status", "200"]);
    expect(busy.connection.closeResult?.reason).to.equal("peer-went-away");
  });
});
