/** The life of a connection: its beginning, its keepalive, and its end. */
import { expect } from "chai";
import {
  CLIENT_PREFACE,
  data,
  Flag,
  FrameType,
  frame,
  GRPC_REQUEST,
  LinkedConnection,
  ping,
  type ReceivedFrame,
  settings,
} from "../../test/http2/index.ts";
import { ErrorCode } from "./error-code.ts";

const MINUTE_MS = 60_000;
const STREAM_MAX = 0x7fff_ffff;

/** Each GOAWAY: its last stream and its word. */
function goAwaysOf(frames: readonly ReceivedFrame[]): readonly (readonly [lastId: number, word: string])[] {
  return frames
    .filter(({ type }) => type === FrameType.GoAway)
    .map(({ payload }) => [payload.readUInt32BE(0), payload.toString("latin1", 8)]);
}

/** The PINGs of the server. */
function pingsOf(frames: readonly ReceivedFrame[]): readonly Buffer[] {
  return frames.filter(({ type, flags }) => type === FrameType.Ping && flags === 0).map(({ payload }) => payload);
}

describe("a connection", () => {
  it("begins with SETTINGS, and opens its window", () => {
    const link = new LinkedConnection({ limits: { unreadBytes: 100_000, concurrentStreams: 77 } });
    const frames = link.take();
    expect(frames.map(({ type }) => type)).to.deep.equal([FrameType.Settings, FrameType.WindowUpdate]);
    expect(frames[0]?.payload.toString("hex")).to.contain("00030000004d");
    expect(frames[1]?.payload.readUInt32BE(0)).to.equal(100_000 - 65_535);
    expect(link.connection.isEstablished).to.equal(false);
    link.send(CLIENT_PREFACE, settings());
    expect(link.connection.isEstablished).to.equal(true);
  });

  it("reports output once, until it is taken", () => {
    const link = LinkedConnection.established();
    const before = link.outputs;
    link.send(ping("a"), ping("b"));
    expect(link.outputs).to.equal(before + 1);
    link.take();
    link.send(ping("c"));
    expect(link.outputs).to.equal(before + 2);
  });

  it("counts its streams, bytes and ends", () => {
    const link = LinkedConnection.established();
    const request = link.encoder.headers(1, GRPC_REQUEST, Flag.EndStream);
    const received = link.counters.bytesReceived;
    const sent = link.counters.bytesSent;
    link.send(request);
    link.connection.end(link.stream(1), [":status", "200"]);
    const frames = link.take();
    expect(link.counters.bytesReceived - received).to.equal(request.length);
    expect(link.counters.bytesSent - sent).to.equal(9 + (frames[0]?.payload.length as number));
    link.connection.close();
    const { connectionsOpened, connectionsClosed, streamsOpened, streamsClosed, closedConnections } = link.counters;
    expect([connectionsOpened, connectionsClosed, streamsOpened, streamsClosed]).to.deep.equal([1, 1, 1, 1]);
    expect(Object.entries(closedConnections).filter(([, count]) => count > 0)).to.deep.equal([["closed-by-server", 1]]);
  });

  for (const ends of ["close", "abandon"] as const) {
    it(`ends its streams at its own end: ${ends}`, () => {
      const link = LinkedConnection.established();
      link.request(1, GRPC_REQUEST);
      link.request(3, GRPC_REQUEST, Flag.EndStream);
      link.take();
      if (ends === "close") {
        link.connection.close();
      } else {
        link.connection.abandon("peer-closed");
      }
      const reason = ends === "close" ? "closed-by-server" : "peer-closed";
      expect(link.calls.slice(3)).to.deep.equal([
        { call: "reset", id: 1, code: ErrorCode.Cancel },
        { call: "reset", id: 3, code: ErrorCode.Cancel },
        { call: "closed", closure: { reason, code: ErrorCode.NoError } },
      ]);
      expect(goAwaysOf(link.take())).to.deep.equal(ends === "close" ? [[3, reason]] : []);
      expect([link.connection.streamCount, link.stream(1).isOpen]).to.deep.equal([0, false]);
      link.connection.close();
      link.connection.abandon("peer-closed");
      expect(link.callsOf("closed").length).to.equal(1);
    });
  }

  it("may be closed by a handler, in any call", () => {
    for (const call of ["request", "data", "end", "reset", "writable"] as const) {
      const link = LinkedConnection.established({
        limits: { streamQueuedBytes: 1 },
        onCall: (each, own) => each.call === call && own.connection.close(),
      });
      link.request(1, GRPC_REQUEST);
      if (link.stream(1).isOpen) {
        link.connection.respond(link.stream(1), [":status", "200"]);
        link.connection.write(link.stream(1), Buffer.alloc(70_000));
        link.connection.write(link.stream(1), Buffer.alloc(1));
        link.send(data(1, "a"), data(1, "b", Flag.EndStream));
        link.send(Buffer.from("000004080000000000000fffff", "hex"), Buffer.from("0000040800000000010000ffff", "hex"));
        link.send(Buffer.from("00000403000000000100000008", "hex"));
      }
      expect(link.connection.closeResult?.reason, call).to.equal("closed-by-server");
      expect(link.calls.at(-1)?.call).to.equal("closed");
      expect(link.calls.filter((each) => each.call === "reset" || each.call === "closed").length).to.be.at.most(2);
    }
  });

  it("sends a silent client a keepalive PING, and ends without an answer", () => {
    const link = LinkedConnection.established();
    link.request(1, GRPC_REQUEST);
    link.pass(29_000);
    expect(pingsOf(link.take())).to.deep.equal([]);
    link.pass(1_000);
    const [asked] = pingsOf(link.take());
    link.send(ping(String(asked), Flag.Ack));
    link.pass(30_000);
    expect(pingsOf(link.take()).length).to.equal(1);
    link.pass(10_000);
    expect(link.connection.closeResult?.reason).to.equal("keepalive-timeout");
    expect(link.callsOf("reset").length).to.equal(1);
  });

  it("ends when the client sends no SETTINGS", () => {
    const link = new LinkedConnection();
    link.send(CLIENT_PREFACE);
    link.pass(9_000);
    expect(link.connection.closeResult).to.equal(null);
    link.pass(1_000);
    expect(link.connection.closeResult?.reason).to.equal("handshake-timeout");
  });

  it("ends when the headers of a request never end, even if their client sends more of them", () => {
    const link = LinkedConnection.established();
    link.send(frame(FrameType.Headers, 0, 1, Buffer.alloc(100)));
    for (let sent = 0; sent < 10; sent++) {
      expect(link.connection.closeResult).to.equal(null);
      link.pass(1_000);
      link.send(frame(FrameType.Continuation, 0, 1, Buffer.alloc(1)));
    }
    link.pass(1_000);
    expect(link.connection.closeResult?.reason).to.equal("headers-timeout");
    expect(link.connection.bufferedBytes.incomplete).to.equal(0);
  });

  it("ends after a time without streams", () => {
    const link = LinkedConnection.established({ limits: { keepaliveMs: 100 * MINUTE_MS } });
    link.pass(10 * MINUTE_MS);
    link.request(1, GRPC_REQUEST, Flag.EndStream);
    link.pass(20 * MINUTE_MS);
    link.connection.end(link.stream(1), [":status", "200"]);
    link.pass(14 * MINUTE_MS);
    expect(goAwaysOf(link.take())).to.deep.equal([]);
    link.pass(MINUTE_MS + 2_000);
    expect(goAwaysOf(link.take())).to.deep.equal([
      [STREAM_MAX, "idle"],
      [1, "idle"],
    ]);
    expect(link.connection.closeResult?.reason).to.equal("idle");
  });

  it("ends when the socket does not write the bytes that it took", () => {
    const link = LinkedConnection.established();
    link.send(ping(""));
    expect(link.connection.takeOutput()).to.not.equal(null);
    for (let at = 0; at < 60; at++) {
      expect(link.connection.closeResult).to.equal(null);
      link.send(ping(""));
      link.pass(1_000);
    }
    expect(link.connection.closeResult?.reason).to.equal("write-timeout");
  });

  describe("drains", () => {
    it("by two GOAWAYs with a PING between them, and ends with its last stream", () => {
      const link = LinkedConnection.established();
      link.request(1, GRPC_REQUEST, Flag.EndStream);
      link.connection.drain(Number.POSITIVE_INFINITY);
      const first = link.take();
      expect(goAwaysOf(first)).to.deep.equal([[STREAM_MAX, "drained"]]);
      // Frames that the client has sent before it knew.
      link.request(3, GRPC_REQUEST, Flag.EndStream);
      link.send(ping(String(pingsOf(first)[0]), Flag.Ack));
      expect(goAwaysOf(link.take())).to.deep.equal([[3, "drained"]]);
      link.request(5, GRPC_REQUEST);
      link.send(data(5, "a", Flag.EndStream));
      expect(link.take()).to.deep.equal([]);
      expect(link.callsOf("request").map(({ id }) => id)).to.deep.equal([1, 3]);
      for (const id of [1, 3]) {
        expect(link.connection.closeResult).to.equal(null);
        link.connection.end(link.stream(id), [":status", "200"]);
      }
      expect(link.connection.closeResult).to.deep.equal({ reason: "drained", code: ErrorCode.NoError });
      expect(link.callsOf("reset")).to.deep.equal([]);
    });

    it("even if the client does not answer the PING", () => {
      const link = LinkedConnection.established();
      link.connection.drain(Number.POSITIVE_INFINITY);
      link.send(ping("drainin?", Flag.Ack));
      expect(link.connection.closeResult).to.equal(null);
      link.pass(1_000);
      expect(link.connection.closeResult?.reason).to.equal("drained");
    });

    it("not because the client answers a PING that was never sent", () => {
      const link = LinkedConnection.established();
      link.send(ping("draining", Flag.Ack));
      expect([link.connection.closeResult, link.take()]).to.deep.equal([null, []]);
    });

    it("until the deadline at the latest", () => {
      const link = LinkedConnection.established();
      link.request(1, GRPC_REQUEST);
      link.connection.drain(link.nowMs + 5_000);
      link.connection.drain(link.nowMs + 9_000);
      link.pass(4_000);
      expect(link.connection.closeResult).to.equal(null);
      link.pass(1_000);
      expect(link.connection.closeResult?.reason).to.equal("drain-deadline");
      expect(link.callsOf("reset")).to.deep.equal([{ call: "reset", id: 1, code: ErrorCode.Cancel }]);
    });

    it("at once before the client has sent its SETTINGS", () => {
      const link = new LinkedConnection();
      link.connection.drain(Number.POSITIVE_INFINITY);
      expect(link.connection.closeResult?.reason).to.equal("drained");
    });
  });
});
