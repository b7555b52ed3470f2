import { expect } from "chai";
import { FakeTime } from "../../../../test/harness/index.ts";
import type { ResponseStream } from "../../methods/index.ts";
import { HEARTBEAT_MS, ServerSentEvents } from "./server-sent-events.ts";

/** A connection that records what was sent; its client takes it when the spec says so. */
class SentStream implements ResponseStream {
  readonly lines: string[] = [];
  hasEnded = false;
  isQuick = true;
  readonly #untaken: (() => void)[] = [];
  #onOver = (): void => undefined;

  onEnded(callback: () => void): void {
    this.#onOver = callback;
  }

  send(message: Uint8Array, taken: () => void): void {
    this.lines.push(Buffer.from(message).toString());
    if (this.isQuick) {
      taken();
    } else {
      this.#untaken.push(taken);
    }
  }

  take(): void {
    for (const taken of this.#untaken.splice(0)) {
      taken();
    }
  }

  fail(error: Error): void {
    this.lines.push(error.message);
    this.leave();
  }

  leave(): void {
    this.hasEnded = true;
    this.#onOver();
  }
}

const NOTHING = (): void => undefined;
const OPENING = "retry: 1000\n\n";
const HEARTBEAT = ": \n\n";

describe("server-sent events", () => {
  let time: FakeTime;
  let stream: SentStream;
  let events: ServerSentEvents;

  beforeEach(() => {
    time = new FakeTime();
    stream = new SentStream();
    events = new ServerSentEvents(stream);
    events.begin(time);
  });

  it("have ids and data, and end with an empty line", () => {
    let taken = 0;
    events.send(
      [
        { id: "1", data: "a" },
        { id: "2", data: "{}" },
      ],
      () => taken++,
    );
    expect(stream.lines).to.deep.equal([OPENING, "id: 1\ndata: a\n\nid: 2\ndata: {}\n\n"]);
    expect(taken).to.equal(1);
  });

  it("are followed by heartbeats if there are no other events", () => {
    time.advance(HEARTBEAT_MS - 1);
    expect(stream.lines).to.deep.equal([OPENING]);
    time.advance(1);
    expect(stream.lines).to.deep.equal([OPENING, HEARTBEAT]);
    time.advance(HEARTBEAT_MS / 2 - 1);
    events.send([{ id: "1", data: "a" }], NOTHING);
    time.advance(HEARTBEAT_MS);
    expect(stream.lines.slice(2), "nothing is silent for longer").to.deep.equal(["id: 1\ndata: a\n\n", HEARTBEAT]);
    time.advance(2 * HEARTBEAT_MS);
    expect(stream.lines.slice(4)).to.deep.equal([HEARTBEAT, HEARTBEAT]);
  });

  it("S38: do not pile up for a client that takes nothing, which is disconnected after half a minute", () => {
    stream.isQuick = false;
    events.send([{ id: "1", data: "a" }], NOTHING);
    time.advance(2 * HEARTBEAT_MS);
    expect(stream.lines).to.have.length(2);
    time.advance(HEARTBEAT_MS);
    expect(stream.lines).to.have.length(3);
    expect([stream.lines[2], stream.hasEnded, time.timerCount]).to.deep.equal([
      "the client does not read the stream",
      true,
      0,
    ]);
  });

  it("continue for a slow client that takes something now and then", () => {
    stream.isQuick = false;
    for (let count = 0; count < 5; count++) {
      events.send([{ id: "1", data: "a" }], NOTHING);
      time.advance(2 * HEARTBEAT_MS);
      stream.take();
    }
    expect([stream.hasEnded, stream.lines.length]).to.deep.equal([false, 6]);
  });

  it("keep no timer for a client that has left", () => {
    stream.leave();
    expect(time.timerCount).to.equal(0);
  });
});
