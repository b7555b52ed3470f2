import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
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

  beforeEach(() => {
    [lines, served, clients, nowMs] = [[], [], [], 0];
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
      socket.on("error", () => socket.destroy());
    });
    gate.guard(server);
    server.listen(0, HERE);
    await once(server, "listening");
  }

  /** Connects, and waits until the connection is admitted or refused. */
  async function arrive(from: string): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const before = gate.open + refusals();
    const socket = connect({ port, host: HERE, localAddress: from });
    clients.push(socket);
    socket.on("error", () => socket.destroy());
    await until("it to be admitted or refused", () => gate.open + refusals() > before);
    return socket;
  }

  /** Connects, and waits until the connection has taken the place of another one. */
  async function comeIn(from: string): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const before = gate.taken;
    const socket = connect({ port, host: HERE, localAddress: from });
    clients.push(socket);
    socket.on("error", () => socket.destroy());
    await until("it to take a place", () => gate.taken > before);
    return socket;
  }

  function refusals(): number {
    return Object.values(gate.refused).reduce((sum, count) => sum + count, 0);
  }

  it("applies only the limit of the member to a proxy, which connects for many clients", async () => {
    await guard({ member: 3, address: 1 }, null, (address) => address === HERE);
    for (const from of [HERE, HERE, ELSEWHERE, ELSEWHERE, HERE]) {
      await arrive(from);
    }
    expect(gate.refused).to.deep.equal({ member: 1, address: 1, descriptors: 0, rate: 0 });
  });

  it("closes connections above the limit of an address, and admits other addresses", async () => {
    await guard({ member: 10, address: 2 });
    const [first] = [await arrive(HERE), await arrive(HERE)];
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

  it("gives another address the place of the newest connection of the one that has the most", async () => {
    await guard({ member: 4, address: 4 });
    const many = [await arrive(HERE), await arrive(HERE), await arrive(HERE), await arrive(HERE)];
    const first = await comeIn(ELSEWHERE);
    await until("the newest to be closed", () => many[3]?.destroyed === true);
    const second = await comeIn(ELSEWHERE);
    await until("the next to be closed", () => many[2]?.destroyed === true);
    // Both addresses have two now.
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
    const many = [await arrive(HERE), await arrive(HERE)];
    const other = { most: 1, takeOne: () => expect.fail("the wrong port") };
    share.join(other);
    await comeIn(ELSEWHERE);
    await until("the newest to be closed", () => many[1]?.destroyed === true);
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
    await guard({ member: 1, address: 1 });
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
