import { type Client, connectivityState } from "@grpc/grpc-js";
import { expect } from "chai";
import { openChannel } from "./channel.ts";
import { EndpointPool } from "./endpoint-pool.ts";

describe("EndpointPool", () => {
  let opened: Map<string, Client>;
  let pools: EndpointPool[];

  beforeEach(() => {
    opened = new Map();
    pools = [];
  });

  afterEach(() => {
    for (const pool of pools) {
      pool.close();
    }
  });

  function createPool(endpoints: readonly string[], start = 0): EndpointPool {
    const pool = new EndpointPool(endpoints, start, (endpoint) => {
      const channel = openChannel(endpoint, undefined, {});
      opened.set(endpoint, channel);
      return channel;
    });
    pools.push(pool);
    return pool;
  }

  function isClosed(endpoint: string): boolean {
    return opened.get(endpoint)?.getChannel().getConnectivityState(false) === connectivityState.SHUTDOWN;
  }

  it("begins at the given position, and opens one channel per endpoint, on first use", () => {
    const pool = createPool(["a:1", "b:1"], 1);
    expect(pool.current().endpoint).to.equal("b:1");
    expect(pool.current().channel).to.equal(pool.current().channel);
    expect([...opened.keys()]).to.deep.equal(["b:1"]);
  });

  it("goes round the configured endpoints", () => {
    const pool = createPool(["a:1", "b:1", "c:1"]);
    const visited: string[] = [];
    for (let step = 0; step < 5; step += 1) {
      visited.push(pool.current().endpoint);
      pool.leave(pool.current().endpoint, undefined);
    }
    expect(visited).to.deep.equal(["a:1", "b:1", "c:1", "a:1", "b:1"]);
  });

  it("goes to the leader that a member names, and from there to the next configured endpoint", () => {
    const pool = createPool(["a:1", "b:1"]);
    pool.leave("a:1", "leader:1");
    expect(pool.current().endpoint).to.equal("leader:1");
    pool.leave("leader:1", undefined);
    expect(pool.current().endpoint).to.equal("b:1");
  });

  it("takes the next endpoint if the leader's is invalid, or is the one that failed", () => {
    const pool = createPool(["a:1", "b:1", "c:1"]);
    pool.leave("a:1", "not an endpoint");
    expect(pool.current().endpoint).to.equal("b:1");
    pool.leave("b:1", "b:1");
    expect(pool.current().endpoint).to.equal("c:1");
  });

  it("tries each discovered member once between the rounds of configured endpoints, until it fails", () => {
    const pool = createPool(["a:1", "b:1"]);
    pool.addDiscovered(["b:1", "leader:1", "not an endpoint", "c:1"]);
    expect(pool.current().endpoint, "the one in use stays").to.equal("a:1");
    const visited: string[] = [];
    const leave = () => {
      visited.push(pool.current().endpoint);
      pool.leave(pool.current().endpoint, undefined);
    };
    for (let step = 0; step < 8; step += 1) {
      leave();
    }
    expect(visited).to.deep.equal(["a:1", "b:1", "leader:1", "a:1", "b:1", "c:1", "a:1", "b:1"]);
    pool.addDiscovered(["leader:1"]);
    for (let step = 0; step < 3; step += 1) {
      leave();
    }
    expect(visited.slice(8)).to.deep.equal(["a:1", "b:1", "leader:1"]);
  });

  it("moves once when many calls fail at the same endpoint", () => {
    const pool = createPool(["a:1", "b:1", "c:1"]);
    for (let call = 0; call < 5; call += 1) {
      pool.leave("a:1", undefined);
    }
    expect(pool.current().endpoint).to.equal("b:1");
  });

  it("keeps a bounded number of channels to leaders, and the configured ones always", () => {
    const pool = createPool(["a:1"]);
    pool.current();
    for (let number = 1; number <= 20; number += 1) {
      pool.leave(pool.current().endpoint, `leader-${number}:1`);
      pool.current();
    }
    const open = [...opened.keys()].filter((endpoint) => !isClosed(endpoint));
    expect(open).to.have.length(17);
    expect(open).to.include.members(["a:1", "leader-20:1", "leader-5:1"]);
    expect(open).to.not.include("leader-4:1");
  });

  it("closes all channels", () => {
    const pool = createPool(["a:1", "b:1"]);
    pool.current();
    pool.leave("a:1", undefined);
    pool.current();
    pool.close();
    expect(pool.closed).to.equal(true);
    expect([isClosed("a:1"), isClosed("b:1")]).to.deep.equal([true, true]);
  });
});
