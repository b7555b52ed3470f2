import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, Socket } from "node:net";
import { expect } from "chai";
import { until } from "../../../test/harness/index.ts";
import { ConnectionLimiter } from "./connection-limiter.ts";
import { DescriptorBudget } from "./descriptor-budget.ts";

const [HERE, ELSEWHERE] = ["127.0.0.1", "127.0.0.2"];
/** Longer than the minimum time between two log lines. */
const LONG_MS = 60_000;

describe("ConnectionLimiter", () => {
  let server: Server;
  let gate: ConnectionLimiter;
  let lines: Record<string, unknown>[];
  let served: Socket[];
  let clients: Socket[];
  let nowMs: number;
  /** How long it takes to begin to serve a connection. */
  let serveMs: number;

  beforeEach(() => {
    [lines, served, clients, nowMs, serveMs] = [[], [], [], 0, 0];
  });

  afterEach(async () => {
    for (const socket of clients) {
      socket.destroy();
    }
    server.close();
    await once(server, "close");
  });

  async function guard(
    limits: { member: number; address: number },
    share: DescriptorBudget | null = null,
    isProxy: (address: string) => boolean = () => false,
  ) {
    const log = { warn: (fields: object, message: string) => void lines.push({ ...fields, message }) };
    gate = new ConnectionLimiter({
      port: "grpc",
      limits,
      descriptorBudget: share,
      isProxy,
      log,
      monotonicMs: () => nowMs,
    });
    server = createServer((socket) => {
      served.push(socket);
      nowMs += serveMs;
      socket.on("error", () => socket.destroy());
    });
    gate.guard(server);
    server.listen(0, HERE);
    await once(server, "listening");
  }

  /** Connects, and waits until the connection is admitted or refused. */
  async function arrive(from: string): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const decided = (): number => gate.open + gate.taken + refusals();
    const before = decided();
    const socket = connect({ port, host: HERE, localAddress: from });
    clients.push(socket);
    socket.on("error", () => socket.destroy());
    await until("it to be admitted or refused", () => decided() > before);
    return socket;
  }

  /** These connections, in the order in which they were served, show a good token of the user. */
  function show(user: string, ...numbers: number[]): void {
    for (const number of numbers) {
      gate.verified(served[number] as Socket, user);
    }
  }

  function refusals(): number {
    return Object.values(gate.refused).reduce((sum, count) => sum + count, 0);
  }

  it("applies only the limit of the member to a proxy, which connects for many clients", async () => {
    await guard({ member: 3, address: 1 }, null, (address) => address === HERE);
    for (const from of [HERE, HERE, ELSEWHERE]) {
      await arrive(from);
    }
    show("anna", 2);
    await arrive(ELSEWHERE);
    await arrive(HERE);
    expect(gate.refused).to.deep.equal({ member: 1, address: 1, descriptors: 0, rate: 0 });
  });

  it("closes connections above the limit of an address, and admits other addresses", async () => {
    await guard({ member: 10, address: 2 });
    const [first] = [await arrive(HERE), await arrive(HERE)];
    show("anna", 0, 1);
    const refused = await arrive(HERE);
    await until("the end", () => refused.destroyed);
    await arrive(ELSEWHERE);
    expect(gate.refused).to.deep.equal({ member: 0, address: 1, descriptors: 0, rate: 0 });
    expect(served).to.have.length(3);
    first?.destroy();
    await until("room", () => gate.open === 2);
    await arrive(HERE);
    expect(gate.refused.address).to.equal(1);
  });

  it("gives a new connection the place of the oldest of its address that has shown no good token, but not at any rate", async () => {
    await guard({ member: 10, address: 3 });
    for (let at = 0; at < 3; at++) {
      await arrive(HERE);
    }
    show("anna", 0);
    await arrive(HERE);
    expect(served[1]?.destroyed, "the oldest without a token").to.equal(true);
    nowMs = 9;
    await arrive(HERE);
    nowMs = 10;
    await arrive(HERE);
    expect([0, 2, 3].map((number) => served[number]?.destroyed)).to.deep.equal([false, true, false]);
    expect([gate.open, gate.taken, gate.refused.address]).to.deep.equal([3, 2, 1]);
    expect(lines[0]).to.deep.include({ reason: "127.0.0.1 has 3 connections" });
  });

  it("keeps a part of an address for its other users: who has the most loses its newest connection", async () => {
    await guard({ member: 100, address: 16 });
    for (let at = 0; at < 15; at++) {
      await arrive(HERE);
      show("anna", at);
    }
    await arrive(HERE);
    show("anna", 15);
    expect(gate.open, "without the sixteenth").to.equal(15);
    for (const [at, left] of [14, 13].entries()) {
      await arrive(HERE);
      show("ben", 16 + at);
      expect([left, left - 1, 16 + at].map((number) => served[number]?.destroyed)).to.deep.equal([true, false, false]);
    }
    expect([gate.open, gate.taken, gate.refused.address]).to.deep.equal([15, 3, 0]);
    expect(lines[0]).to.deep.include({
      message: "a connection was closed for another user",
      reason: "anna has the most connections of 127.0.0.1",
    });
    show("carl", 16);
    await arrive(HERE);
    expect(gate.taken, "another user of a connection changes nothing").to.equal(3);
  });

  it("forgets what is closed, and does not mind a token of a closed connection", async () => {
    await guard({ member: 10, address: 2 });
    const first = await arrive(HERE);
    const { remoteAddress, remotePort, localAddress, localPort } = served[0] as Socket;
    const ends = { remoteAddress, remotePort, localAddress, localPort };
    show("anna", 0);
    first.destroy();
    await until("the end", () => gate.open === 0);
    gate.verified(ends as Socket, "ben");
    await arrive(HERE);
    await arrive(HERE);
    expect([gate.open, gate.most]).to.deep.equal([2, 2]);
  });

  it("knows a connection whose ends are those of one that is still closing", async () => {
    await guard({ member: 40, address: 32 });
    const ends = { remoteAddress: HERE, remotePort: 5, localAddress: HERE, localPort: 6 };
    const [old, next] = [0, 1].map(
      () =>
        Object.defineProperties(
          new Socket(),
          Object.fromEntries(Object.entries(ends).map(([name, value]) => [name, { value }])),
        ) as Socket,
    ) as [Socket, Socket];
    server.emit("connection", old);
    server.emit("connection", next);
    old.destroy();
    await once(old, "close");
    gate.verified(next, "anna");
    for (let at = 0; at < 30; at++) {
      await arrive(HERE);
      show("ben", 2 + at);
    }
    expect(gate.taken, "thirty of ben's, and one of anna's").to.equal(1);
  });

  it("admits few new connections of an address after one of them was cut, for ten seconds", async () => {
    await guard({ member: 10, address: 10 });
    gate.slowDown("::ffff:127.0.0.1");
    await arrive(HERE);
    const refused = await arrive(HERE);
    await until("the end", () => refused.destroyed);
    await arrive(ELSEWHERE);
    expect(gate.refused).to.deep.equal({ member: 0, address: 0, descriptors: 0, rate: 1 });
    nowMs = 99;
    await arrive(HERE);
    expect(gate.refused.rate).to.equal(2);
    nowMs = 100;
    await arrive(HERE);
    gate.slowDown(HERE);
    await arrive(HERE);
    expect(gate.refused.rate, "another cut gives no connection").to.equal(3);
    nowMs = 10_100;
    await arrive(HERE);
    await arrive(HERE);
    expect([gate.refused.rate, gate.open]).to.deep.equal([3, 5]);
    expect(lines[0]).to.deep.include({ reason: "127.0.0.1 opens connections too fast after one was cut" });
  });

  it("serves a burst of connections in slices of a turn, in their order, and none that is closed by then", async () => {
    await guard({ member: 10, address: 10 });
    serveMs = 3;
    const burst = Array.from({ length: 6 }, () => new Socket());
    for (const socket of burst) {
      server.emit("connection", socket);
    }
    const counts = [served.length];
    burst[4]?.destroy();
    for (let turns = 0; turns < 3; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      counts.push(served.length);
    }
    expect(counts).to.deep.equal([2, 4, 5, 5]);
    expect(served).to.deep.equal(burst.filter((_, at) => at !== 4));
  });

  it("slows no proxy down", async () => {
    await guard({ member: 10, address: 1 }, null, (address) => address === HERE);
    gate.slowDown(HERE);
    await arrive(HERE);
    await arrive(HERE);
    expect(gate.refused.rate).to.equal(0);
  });

  it("closes connections above the limit of the port, or of file descriptors", async () => {
    await guard({ member: 2, address: 2 }, new DescriptorBudget(1_000));
    for (const from of [HERE, ELSEWHERE, "127.0.0.3"]) {
      await arrive(from);
    }
    expect(gate.refused).to.deep.equal({ member: 1, address: 0, descriptors: 0, rate: 0 });
  });

  it("gives another address the place of a connection of the one that has the most", async () => {
    await guard({ member: 4, address: 4 });
    const many = [await arrive(HERE), await arrive(HERE), await arrive(HERE), await arrive(HERE)];
    show("anna", 0, 1, 3);
    const first = await arrive(ELSEWHERE);
    expect(served[2]?.destroyed, "the one without a token").to.equal(true);
    const second = await arrive(ELSEWHERE);
    expect(served[3]?.destroyed, "the newest of anna's").to.equal(true);
    // Both addresses have two now.
    show("ben", 4, 5);
    await arrive(ELSEWHERE);
    await arrive(HERE);
    expect([gate.open, gate.taken, gate.refused.member]).to.deep.equal([4, 2, 2]);
    expect([many[0], many[1], first, second].map((socket) => socket?.destroyed)).to.deep.equal(
      Array.from({ length: 4 }, () => false),
    );
    expect(lines[0]).to.deep.include({ message: "a connection was closed for another address" });
  });

  it("takes no connection of a proxy", async () => {
    await guard({ member: 3, address: 3 }, null, (address) => address === HERE);
    for (const from of [HERE, HERE, HERE, ELSEWHERE]) {
      await arrive(from);
    }
    expect([gate.taken, gate.refused.member]).to.deep.equal([0, 1]);
  });

  it("takes a file descriptor from the port where an address has the most", async () => {
    const share = new DescriptorBudget(4);
    await guard({ member: 10, address: 10 }, share);
    await arrive(HERE);
    await arrive(HERE);
    const other = { most: 1, takeOne: () => expect.fail("the wrong port") };
    share.join(other);
    await arrive(ELSEWHERE);
    expect(served[0]?.destroyed, "the oldest").to.equal(true);
    await arrive(ELSEWHERE);
    expect([gate.open, gate.taken, gate.refused.descriptors]).to.deep.equal([2, 1, 1]);
  });

  it("shares the file descriptors with other ports", async () => {
    const share = new DescriptorBudget(4);
    await guard({ member: 10, address: 10 }, share);
    expect(share.acquire(), "by another port").to.equal(true);
    const first = await arrive(HERE);
    await arrive(HERE);
    expect(gate.refused).to.deep.equal({ member: 0, address: 0, descriptors: 1, rate: 0 });
    first.destroy();
    await until("room", () => gate.open === 0);
    await arrive(HERE);
    expect(gate.refused.descriptors).to.equal(1);
  });

  it("logs refusals at a limited rate, with the number that were not logged", async () => {
    await guard({ member: 1, address: 10 });
    for (let connections = 0; connections < 4; connections++) {
      await arrive(HERE);
    }
    expect(lines).to.have.length(1);
    nowMs += LONG_MS;
    await arrive(HERE);
    expect(lines[1]).to.deep.include({ port: "grpc", notLogged: 2, message: "a connection was refused" });
  });

  it("survives a failed accept, and logs it", async () => {
    await guard({ member: 10, address: 10 });
    server.emit("error", Object.assign(new Error("accept ENOBUFS"), { code: "ENOBUFS" }));
    expect(lines[0]).to.deep.include({ port: "grpc", reason: "accept ENOBUFS" });
    await arrive(HERE);
  });
});

describe("DescriptorBudget", () => {
  for (const [descriptors, max] of [
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    [20_000, 19_488],
    [1_024, 512],
    [256, 128],
    [1, 1],
  ] as const) {
    it(`leaves ${max} of ${descriptors} to clients`, () => {
      expect(new DescriptorBudget(descriptors).max).to.equal(max);
    });
  }
});
