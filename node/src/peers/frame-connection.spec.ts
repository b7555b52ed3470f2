import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect } from "chai";
import { FakePeerClock, frameBytes, until } from "../../test/peers/index.ts";
import type { Frame } from "./frame.ts";
import { FrameConnection } from "./frame-connection.ts";
import { FrameType } from "./frame-type.ts";
import { DEFAULT_PEER_LIMITS } from "./limits.ts";

const FIRST = { types: [FrameType.Heartbeat], bodyBytesMax: 100 };

describe("FrameConnection", () => {
  const server = createServer();
  const sockets: Socket[] = [];

  /** Two ends of a TCP connection. */
  async function pair(): Promise<[Socket, Socket]> {
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const dialed = connect((server.address() as AddressInfo).port, "127.0.0.1");
    await once(dialed, "connect");
    const [other] = await accepted;
    sockets.push(dialed, other);
    return [dialed, other];
  }

  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) {
      socket.destroy();
    }
  });

  after(() => server.close());

  it("hands nothing over after its end, not even frames of bytes that have arrived (P34)", async () => {
    const [near, far] = await pair();
    const texts: string[] = [];
    const ends: string[] = [];
    const connection: FrameConnection = new FrameConnection(near, new FakePeerClock(), DEFAULT_PEER_LIMITS, FIRST, {
      onFrame: ({ body }) => {
        texts.push(Buffer.from(body).toString());
        connection.end("enough");
      },
      onEnded: (reason) => ends.push(reason),
    });
    far.write(Buffer.concat(["one", "two"].map((text) => frameBytes(FrameType.Heartbeat, Buffer.from(text)))));
    await once(near, "close");
    expect(texts).to.deep.equal(["one"]);
    expect(ends).to.deep.equal(["enough"]);
    expect(connection.send(FrameType.Heartbeat, Buffer.alloc(0))).to.equal(false);
  });

  it("passes errors of its user on, except a FrameError", async () => {
    const [near, far] = await pair();
    const ends: string[] = [];
    new FrameConnection(near, new FakePeerClock(), DEFAULT_PEER_LIMITS, FIRST, {
      onFrame: () => {
        throw new TypeError("a mistake of the user");
      },
      onEnded: (reason) => ends.push(reason),
    });
    const { promise: raised, resolve } = Promise.withResolvers<unknown>();
    const listeners = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.once("uncaughtException", resolve);
    try {
      far.write(frameBytes(FrameType.Heartbeat, Buffer.from("x")));
      expect(await raised).to.be.instanceOf(TypeError);
    } finally {
      for (const listener of listeners) {
        process.on("uncaughtException", listener);
      }
    }
    expect(ends).to.deep.equal([]);
  });

  it("keeps frames in its queue that the socket does not take, and returns them", async () => {
    const [near, far] = await pair();
    far.pause();
    const connection = new FrameConnection(near, new FakePeerClock(), DEFAULT_PEER_LIMITS, FIRST, {
      onFrame: () => {},
      onEnded: () => {},
    });
    const block = Buffer.alloc(1024 * 1024);
    // The other end does not read, so at some time the connection takes nothing more.
    await until("a full connection", () => {
      while (connection.send(FrameType.Heartbeat, block)) {
        connection.flush();
      }
      return near.writableNeedDrain && !connection.send(FrameType.Heartbeat, block);
    });
    const unsent = connection.takeUnsent();
    expect(unsent.length).to.be.within(1, 8);
    expect(unsent.every(({ body }) => body === block)).to.equal(true);
    expect(connection.takeUnsent()).to.deep.equal([]);
  });

  it("carries frames of all sizes in their order, however they are put together", async () => {
    const [near, far] = await pair();
    const sender = new FrameConnection(near, new FakePeerClock(), DEFAULT_PEER_LIMITS, FIRST, {
      onFrame: () => {},
      onEnded: () => {},
    });
    const arrived: Frame[] = [];
    new FrameConnection(
      far,
      new FakePeerClock(),
      DEFAULT_PEER_LIMITS,
      { ...FIRST, bodyBytesMax: 100_000 },
      {
        onFrame: (frame) => arrived.push(frame),
        onEnded: () => {},
      },
    );
    const lengths = [0, 1, 4_096, 4_097, 12, 100_000, 70_000, 0, ...Array.from({ length: 40 }, (_, at) => at * 100), 9];
    const sent = lengths.map((length, at) => Buffer.alloc(length, at + 1));
    for (const body of sent) {
      expect(sender.send(FrameType.Heartbeat, body)).to.equal(true);
    }
    sender.flush();
    await until("all frames", () => arrived.length === sent.length);
    for (const [at, { type, body }] of arrived.entries()) {
      expect([type, Buffer.compare(body, sent[at] as Buffer)]).to.deep.equal([FrameType.Heartbeat, 0]);
    }
    sender.end("done");
    far.destroy();
  });

  it("hands small frames of one flush to the socket in one piece", async () => {
    const [near] = await pair();
    const connection = new FrameConnection(near, new FakePeerClock(), DEFAULT_PEER_LIMITS, FIRST, {
      onFrame: () => {},
      onEnded: () => {},
    });
    const pieces: number[] = [];
    const write = near.write.bind(near);
    near.write = ((piece: Uint8Array) => {
      pieces.push(piece.length);
      return write(piece);
    }) as typeof near.write;
    for (const length of [10, 20, 5_000, 30]) {
      connection.send(FrameType.Heartbeat, Buffer.alloc(length));
    }
    connection.flush();
    expect(pieces).to.deep.equal([10 + 20 + 2 * 12, 12, 5_000, 30 + 12]);
    connection.end("done");
  });

  it("closes a connection whose last words are never read", async () => {
    const [near, far] = await pair();
    far.pause();
    const clock = new FakePeerClock();
    const connection = new FrameConnection(near, clock, DEFAULT_PEER_LIMITS, FIRST, {
      onFrame: () => {},
      onEnded: () => {},
    });
    connection.write(FrameType.Heartbeat, Buffer.alloc(12 * 1024 * 1024));
    connection.endWith(FrameType.Heartbeat, Buffer.alloc(1), "done");
    expect(near.destroyed).to.equal(false);
    clock.advance(DEFAULT_PEER_LIMITS.deadMs);
    expect(near.destroyed).to.equal(true);
    await once(near, "close");
    expect(clock.timerCount).to.equal(0);
  });
});
