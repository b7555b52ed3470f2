/** The server on real sockets: writes per turn, slow readers, and the end of connections. */
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { expect } from "chai";
import {
  data,
  type EchoOptions,
  EchoServer,
  Flag,
  FrameType,
  GRPC_REQUEST,
  ping,
  RawClient,
  Setting,
  windowUpdate,
} from "../../test/http2/index.ts";
import { TestAuthority, temporaryDirectory, until, whyNoCertificates } from "../../test/peers/index.ts";
import { DEFAULT_HTTP2_LIMITS } from "./limits.ts";

const MEBIBYTE = 1024 * 1024;
const STREAM_WINDOW = 0x7fff_ffff;
/** Less than two buffers of 64 KiB, which a turn reads from one client. */
const TURN_BYTES_MAX = 128 * 1024;

describe("an HTTP/2 server", () => {
  const clients: RawClient[] = [];
  const servers: EchoServer[] = [];

  const start = async (options: EchoOptions = {}): Promise<EchoServer> => {
    const server = await EchoServer.start(options);
    servers.push(server);
    return server;
  };
  const connected = async (client: Promise<RawClient>): Promise<RawClient> => {
    clients.push(await client);
    return client;
  };

  afterEach(async () => {
    for (const client of clients.splice(0)) {
      client.destroy();
    }
    for (const server of servers.splice(0)) {
      await server.close();
      expect(server.http2.socketCount).to.equal(0);
    }
  });

  it("answers on a socket", async () => {
    const server = await start();
    const client = await connected(RawClient.open(server.port));
    client.send(client.encoder.headers(1, GRPC_REQUEST), data(1, "hello", Flag.EndStream));
    const answer = await client.frame(({ type }) => type === FrameType.Data);
    expect(answer.payload.toString()).to.equal("hello");
    const trailers = await client.frame(
      ({ type, flags }) => type === FrameType.Headers && (flags & Flag.EndStream) !== 0,
    );
    expect(trailers.fields).to.deep.equal(["grpc-status", "0"]);
    expect(server.http2.counters.connectionsOpened).to.equal(1);
  });

  it("closes the connection with the most queued bytes, if those of all exceed the limit", async () => {
    const server = await start({ queuedBytesOfAll: MEBIBYTE });
    const body = Buffer.alloc(15_000, "b");
    const [greedy, modest] = await Promise.all(
      [0, 1].map(() => connected(RawClient.open(server.port, [Setting.InitialWindowSize, 0]))),
    );
    const ask = (client: RawClient | undefined, from: number, to: number): void => {
      for (let at = from; at < to; at++) {
        const headers = client?.encoder.headers(2 * at + 1, GRPC_REQUEST) ?? expect.fail();
        client?.send(headers, data(2 * at + 1, body, Flag.EndStream));
      }
    };
    ask(modest, 0, 2);
    await modest?.frame(({ type, streamId }) => type === FrameType.Headers && streamId === 3);
    ask(greedy, 0, 60);
    await greedy?.frame(({ type, streamId }) => type === FrameType.Headers && streamId === 119);
    expect(server.closures).to.deep.equal([]);
    ask(greedy, 60, 80);
    const goAway = await greedy?.frame(({ type }) => type === FrameType.GoAway);
    expect(goAway?.payload.toString("latin1", 8)).to.equal("answers-not-taken");
    await greedy?.closed();
    expect(server.closures.map(({ reason }) => reason)).to.deep.equal(["answers-not-taken"]);
    expect(server.http2.counters.closedConnections["answers-not-taken"]).to.equal(1);
    modest?.send(windowUpdate(3, body.length));
    const answer = await modest?.frame(({ type, streamId }) => type === FrameType.Data && streamId === 3);
    expect(answer?.payload.length).to.equal(body.length);
    // The bytes of the closed connection are no longer counted.
    ask(modest, 2, 60);
    await modest?.frame(({ type, streamId }) => type === FrameType.Headers && streamId === 119);
    expect(server.closures.length).to.equal(1);
  });

  it("counts the queued bytes of all connections of an owner together", async () => {
    const server = await start({ queuedBytesOfAll: MEBIBYTE, owners: ["many", "many", "many", "one"] });
    const body = Buffer.alloc(15_000, "b");
    const clients: RawClient[] = [];
    for (let at = 0; at < 4; at++) {
      const client = await connected(RawClient.open(server.port, [Setting.InitialWindowSize, 0]));
      await client.frame(({ type }) => type === FrameType.Settings);
      clients.push(client);
    }
    const [first, second, third, other] = clients as [RawClient, RawClient, RawClient, RawClient];
    const ask = async (client: RawClient, count: number): Promise<void> => {
      for (let at = 0; at < count; at++) {
        client.send(client.encoder.headers(2 * at + 1, GRPC_REQUEST), data(2 * at + 1, body, Flag.EndStream));
      }
      await client.frame(({ type, streamId }) => type === FrameType.Headers && streamId === 2 * count - 1);
    };
    // The largest queue of all is that of the other owner, but three together are larger.
    await ask(other, 25);
    await ask(first, 12);
    await ask(second, 15);
    third.send(
      ...Array.from({ length: 25 }, (_, at) => [
        third.encoder.headers(2 * at + 1, GRPC_REQUEST),
        data(2 * at + 1, body, Flag.EndStream),
      ]).flat(),
    );
    await until("one to be closed", () => server.closures.length > 0);
    expect(server.closures.map(({ reason }) => reason)).to.deep.equal(["answers-not-taken"]);
    other.send(windowUpdate(1, body.length));
    const answer = await other.frame(({ type, streamId }) => type === FrameType.Data && streamId === 1);
    expect(answer.payload.length).to.equal(body.length);
  });

  it("lets other clients have their turn while one client sends without a pause", async () => {
    const ignoredFrames = { burst: 1_000_000, perSecond: 0 };
    const server = await start({ limits: { floods: { ...DEFAULT_HTTP2_LIMITS.floods, ignoredFrames } } });
    const client = await connected(RawClient.open(server.port));
    await client.frame(({ type }) => type === FrameType.Settings);
    const acknowledgement = ping("nothing", Flag.Ack);
    const { counters } = server.http2;
    let [bytesBefore, bytesOfTurnMax] = [counters.bytesReceived, 0];
    const look = (): void => {
      bytesOfTurnMax = Math.max(bytesOfTurnMax, counters.bytesReceived - bytesBefore);
      bytesBefore = counters.bytesReceived;
      turn = setImmediate(look);
    };
    let turn = setImmediate(look);
    client.send(Buffer.alloc(200_000 * acknowledgement.length, acknowledgement), ping("last"));
    await client.frame(({ type }) => type === FrameType.Ping);
    clearImmediate(turn);
    expect(counters.bytesReceived).to.be.above(3 * MEBIBYTE);
    expect(bytesOfTurnMax).to.be.at.most(TURN_BYTES_MAX);
  });

  it("lets other clients have their turn while the requests of one client take long", async () => {
    let requestsOfTurn = 0;
    let most = 0;
    let seen = 0;
    const server = await start({
      onRequest: () => {
        requestsOfTurn++;
        seen++;
        for (const endMs = performance.now() + 1; performance.now() < endMs; ) {}
      },
    });
    const client = await connected(RawClient.open(server.port));
    await client.frame(({ type }) => type === FrameType.Settings);
    const look = (): void => {
      most = Math.max(most, requestsOfTurn);
      requestsOfTurn = 0;
      turn = setImmediate(look);
    };
    let turn = setImmediate(look);
    const requests = Array.from({ length: 300 }, (_, at) => [
      client.encoder.headers(1 + 2 * at, GRPC_REQUEST),
      data(1 + 2 * at, "x".repeat(50), Flag.EndStream),
    ]);
    client.send(Buffer.concat(requests.flat()));
    await until("all requests", () => seen === 300);
    clearImmediate(turn);
    // Each takes a millisecond, and 2 KiB of them begin together.
    expect(most).to.be.within(1, 60);
    await client.frame(({ type, streamId }) => type === FrameType.Data && streamId === 599);
  });

  it("writes all answers of a turn at once", async () => {
    const server = await start({ holds: true });
    const client = await connected(RawClient.open(server.port));
    for (let at = 0; at < 20; at++) {
      client.send(client.encoder.headers(2 * at + 1, GRPC_REQUEST), data(2 * at + 1, "hello", Flag.EndStream));
    }
    await until("20 requests", () => server.heldCount === 20);
    const write = Socket.prototype.write;
    let writes = 0;
    Socket.prototype.write = function (this: Socket, ...args: Parameters<typeof write>): boolean {
      writes++;
      return write.apply(this, args);
    } as typeof write;
    try {
      server.release();
      await client.frame(
        ({ streamId, flags, type }) => streamId === 39 && type === FrameType.Headers && (flags & 1) === 1,
      );
    } finally {
      Socket.prototype.write = write;
    }
    expect(writes).to.equal(1);
  });

  it("stops reading from a client that does not read, and continues when it does", async () => {
    const limits = { unwrittenBytes: 100_000, queuedBytes: 100 * MEBIBYTE, unreadBytes: 100 * MEBIBYTE };
    const server = await start({ limits });
    const client = await connected(RawClient.open(server.port, [Setting.InitialWindowSize, STREAM_WINDOW]));
    client.send(windowUpdate(0, STREAM_WINDOW - 65_535));
    client.socket.pause();
    const body = Buffer.alloc(16_000);
    const count = 2_000;
    for (let at = 0; at < count; at++) {
      const id = 2 * at + 1;
      client.send(client.encoder.headers(id, GRPC_REQUEST), data(id, body, Flag.EndStream));
    }
    // The kernel takes several megabytes in both directions; the rest must stay with the client.
    const { counters } = server.http2;
    let before = -1;
    await until("an end of reading", () => {
      const isQuiet = counters.bytesReceived === before && client.socket.writableLength > 0;
      before = counters.bytesReceived;
      return isQuiet;
    });
    expect(counters.bytesReceived).to.be.lessThan(count * body.length);
    client.socket.resume();
    await client.frame(({ streamId, fields }) => streamId === 2 * count - 1 && fields?.[0] === "grpc-status");
    const bytes = client.frames.reduce(
      (sum, { type, payload }) => sum + (type === FrameType.Data ? payload.length : 0),
      0,
    );
    expect(bytes).to.equal(count * body.length);
  });

  it("ends a connection that breaks the protocol, after its GOAWAY is read", async () => {
    const server = await start();
    const client = await connected(RawClient.open(server.port));
    client.send(data(5, "x"), Buffer.alloc(MEBIBYTE));
    const goAway = await client.frame(({ type }) => type === FrameType.GoAway);
    expect(goAway.payload.toString("latin1", 8)).to.equal("wrong-stream");
    await client.closed();
    expect(server.closures.map(({ reason }) => reason)).to.deep.equal(["wrong-stream"]);
  });

  for (const [title, leave] of [
    ["ends", (client: RawClient) => client.socket.end()],
    ["is destroyed", (client: RawClient) => client.destroy()],
    ["is reset", (client: RawClient) => client.socket.resetAndDestroy()],
  ] as const) {
    it(`ends the streams of a client whose socket ${title}`, async () => {
      const server = await start({ holds: true });
      const client = await connected(RawClient.open(server.port));
      client.send(client.encoder.headers(1, GRPC_REQUEST, Flag.EndStream));
      await until("the request", () => server.heldCount === 1);
      leave(client);
      await until("the end", () => server.closures.length === 1);
      expect(server.closures[0]?.reason).to.be.oneOf(["peer-closed", "socket-error"]);
      expect(server.resets).to.deep.equal([8]);
      server.release();
    });
  }

  it("closes a connection that sends nothing", async () => {
    const server = await start({ limits: { handshakeMs: 1 } });
    const client = await connected(RawClient.connect(server.port));
    await client.closed();
    expect(server.closures.map(({ reason }) => reason)).to.deep.equal(["handshake-timeout"]);
  });

  describe("drains", () => {
    it("by serving the open streams, and no others", async () => {
      const server = await start({ holds: true });
      const client = await connected(RawClient.open(server.port));
      client.send(client.encoder.headers(1, GRPC_REQUEST, Flag.EndStream));
      await until("the request", () => server.heldCount === 1);
      const drained = server.http2.drain(60_000);
      const asked = await client.frame(({ type, flags }) => type === FrameType.Ping && flags === 0);
      client.send(ping(asked.payload.toString(), Flag.Ack));
      await client.frame(({ type, payload }) => type === FrameType.GoAway && payload.readUInt32BE(0) === 1);
      const late = await connected(RawClient.connect(server.port));
      await late.closed();
      server.release();
      await drained;
      await client.closed();
      expect(client.frames.some(({ fields }) => fields?.includes("grpc-status"))).to.equal(true);
      expect(server.closures.map(({ reason }) => reason)).to.deep.equal(["drained"]);
    });

    it("no longer than the grace period", async () => {
      const server = await start({ holds: true });
      const client = await connected(RawClient.open(server.port));
      client.send(client.encoder.headers(1, GRPC_REQUEST, Flag.EndStream));
      await until("the request", () => server.heldCount === 1);
      await server.http2.drain(1);
      expect(server.closures.map(({ reason }) => reason)).to.deep.equal(["drain-deadline"]);
    });
  });

  describe("over TLS", () => {
    let tls = { cert: "", key: "" };

    before(function () {
      const why = whyNoCertificates();
      if (why !== null) {
        this.skip();
      }
      const files = new TestAuthority(temporaryDirectory(), "test").issue("server", ["IP:127.0.0.1"]);
      tls = { cert: readFileSync(files.certificate, "utf8"), key: readFileSync(files.key, "utf8") };
    });

    it("answers a client that asks for h2", async () => {
      const server = await start({ tls });
      const client = await connected(RawClient.openTls(server.port, ["h2"]));
      client.send(
        client.encoder.headers(1, GRPC_REQUEST),
        data(1, Buffer.alloc(100_000).subarray(0, 16_000), Flag.EndStream),
      );
      await client.frame(({ type, payload }) => type === FrameType.Data && payload.length === 16_000);
      client.destroy();
      await until("the end", () => server.closures.length === 1);
    });

    for (const [title, protocols, reason] of [
      ["asks for another protocol", ["http/1.1"], "tls-error"],
      ["asks for none", null, "no-alpn"],
    ] as const) {
      it(`closes the connection of a client that ${title}`, async () => {
        const server = await start({ tls });
        const client = await connected(RawClient.openTls(server.port, protocols));
        await client.closed();
        await until("the count", () => server.http2.counters.closedConnections[reason] === 1);
        expect(server.http2.counters.connectionsOpened).to.equal(0);
      });
    }

    it("closes a connection that does not begin its handshake", async () => {
      const server = await start({ tls, limits: { handshakeMs: 10 } });
      const client = await connected(RawClient.connect(server.port));
      await client.closed();
      await until("the count", () => server.http2.counters.closedConnections["tls-error"] === 1);
    });

    it("drains during a handshake", async () => {
      const server = await start({ tls });
      await connected(RawClient.connect(server.port));
      await until("the socket", () => server.http2.socketCount === 1);
      await server.http2.drain(1);
      expect(server.http2.socketCount).to.equal(0);
    });

    it("uses the latest certificate", async () => {
      const server = await start({ tls });
      const files = new TestAuthority(temporaryDirectory(), "other").issue("renewed", ["IP:127.0.0.1"]);
      server.http2.useCertificate({ cert: readFileSync(files.certificate), key: readFileSync(files.key) });
      const client = await connected(RawClient.openTls(server.port, ["h2"]));
      const { subject } = (client.socket as TLSSocket).getPeerCertificate();
      expect(subject.CN).to.equal("renewed");
    });
  });
});
