import { expect } from "chai";
import { type ConnectionActivity, ConnectionTimes, type Due } from "./connection-times.ts";
import { DEFAULT_HTTP2_LIMITS } from "./limits.ts";

const LIMITS = {
  ...DEFAULT_HTTP2_LIMITS,
  handshakeMs: 10,
  headersMs: 30,
  idleMs: 1_000,
  unknownIdleMs: 200,
  keepaliveMs: 100,
  keepaliveTimeoutMs: 20,
  writeMs: 50,
};
const START_MS = 5_000;
const BUSY: ConnectionActivity = {
  hasSettings: true,
  isKnown: true,
  headersStreamId: 0,
  streams: 1,
  isWriting: false,
  isReading: true,
};

/** The due action at each time after the start. */
function dues(times: ConnectionTimes, signs: Partial<ConnectionActivity>, afterMs: readonly number[]): (Due | null)[] {
  return afterMs.map((ms) => times.due(START_MS + ms, { ...BUSY, ...signs }));
}

describe("the timers of a connection", () => {
  let times = new ConnectionTimes(LIMITS, START_MS);
  beforeEach(() => {
    times = new ConnectionTimes(LIMITS, START_MS);
  });

  it("end a handshake that takes too long", () => {
    expect(dues(times, { hasSettings: false }, [9, 10])).to.deep.equal([null, "handshake-timeout"]);
    expect(dues(times, {}, [10])).to.deep.equal([null]);
  });

  it("end a connection whose header block stays incomplete, whatever arrives meanwhile", () => {
    expect(dues(times, { headersStreamId: 1 }, [10, 39])).to.deep.equal([null, null]);
    times.onReceived(START_MS + 39);
    expect(dues(times, { headersStreamId: 1 }, [40])).to.deep.equal(["headers-timeout"]);
  });

  it("give each header block its own time, and none while the connection does not read", () => {
    expect(dues(times, { headersStreamId: 1 }, [10])).to.deep.equal([null]);
    expect(dues(times, { headersStreamId: 3 }, [40, 69])).to.deep.equal([null, null]);
    expect(dues(times, {}, [70])).to.deep.equal([null]);
    expect(dues(times, { headersStreamId: 5 }, [70])).to.deep.equal([null]);
    expect(dues(times, { headersStreamId: 5, isReading: false }, [90])).to.deep.equal([null]);
    times.onReceived(START_MS + 95);
    expect(dues(times, { headersStreamId: 5 }, [119, 120])).to.deep.equal([null, "headers-timeout"]);
  });

  it("send a keepalive PING, and end without an answer", () => {
    expect(dues(times, {}, [99, 100])).to.deep.equal([null, "keepalive-ping"]);
    times.onPinged();
    expect(dues(times, {}, [119, 120])).to.deep.equal([null, "keepalive-timeout"]);
    times.onReceived(START_MS + 119);
    expect(dues(times, {}, [218, 219])).to.deep.equal([null, "keepalive-ping"]);
  });

  it("expect no keepalive answer while the connection does not read", () => {
    expect(dues(times, { isReading: false }, [100])).to.deep.equal([null]);
  });

  it("end a connection without streams, from its start or from its last stream", () => {
    times.onReceived(START_MS + 950);
    expect(dues(times, { streams: 0 }, [999, 1_000])).to.deep.equal([null, "idle"]);
    expect(dues(times, { streams: 1 }, [1_000])).to.deep.equal([null]);
    times.onReceived(START_MS + 1_500);
    times.onIdle();
    times.onReceived(START_MS + 2_450);
    expect(dues(times, { streams: 0 }, [2_499, 2_500])).to.deep.equal([null, "idle"]);
  });

  it("end a connection of an unknown client earlier, and never later", () => {
    times.onReceived(START_MS + 190);
    const idle = { streams: 0, isKnown: false };
    expect(dues(times, idle, [199, 200])).to.deep.equal([null, "idle"]);
    expect(dues(times, { ...idle, streams: 1 }, [200])).to.deep.equal([null]);
    expect(dues(times, { ...idle, isKnown: true }, [200])).to.deep.equal([null]);
    const brief = new ConnectionTimes({ ...LIMITS, idleMs: 50 }, START_MS);
    expect(dues(brief, idle, [49, 50])).to.deep.equal([null, "idle"]);
  });

  it("end a connection whose socket does not write", () => {
    times.onReceived(START_MS + 10);
    times.onTaken();
    expect(dues(times, { isWriting: true }, [59, 60])).to.deep.equal([null, "write-timeout"]);
    expect(dues(times, { isWriting: false }, [60])).to.deep.equal([null]);
  });

  it("send the last GOAWAY a second after the first, and end at the deadline", () => {
    times.onDraining(START_MS + 3_000);
    times.onReceived(START_MS + 950);
    expect(dues(times, {}, [999, 1_000])).to.deep.equal([null, "final-goaway"]);
    times.onFinalGoAway();
    times.onReceived(START_MS + 2_950);
    expect(dues(times, {}, [2_999, 3_000])).to.deep.equal([null, "drain-deadline"]);
  });

  it("take an earlier deadline, and no later one", () => {
    times.onDraining(Number.POSITIVE_INFINITY);
    times.onFinalGoAway();
    times.onDraining(START_MS + 50);
    times.onDraining(START_MS + 70);
    expect(dues(times, {}, [49, 50])).to.deep.equal([null, "drain-deadline"]);
  });

  it("do not treat a draining connection as idle", () => {
    times.onDraining(Number.POSITIVE_INFINITY);
    times.onFinalGoAway();
    times.onReceived(START_MS + 1_950);
    expect(dues(times, { streams: 0 }, [2_000])).to.deep.equal([null]);
  });
});
