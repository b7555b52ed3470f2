import { expect } from "chai";
import { scenarios } from "../scenarios/index.ts";
import { ClusterInMemory, failureOf } from "../test/index.ts";
import { measure, type RunOptions, type Subject } from "./measure.ts";

const options: RunOptions = {
  target: "leader",
  concurrency: 8,
  warmUpMs: 1,
  bounds: { ms: 60_000, operations: 100 },
};

describe("a measured run", () => {
  const never = new AbortController().signal;

  /** The workload of a scenario, prepared for its runs. */
  async function prepared(name: string, cluster: ClusterInMemory): Promise<Subject> {
    const workload = scenarios.find((scenario) => scenario.name === name)?.createWorkload(16);
    if (workload === undefined) {
      throw new Error(`there is no scenario ${name}`);
    }
    const connection = await cluster.connect(cluster.leader);
    await workload.prepare(connection, options.concurrency);
    connection.close();
    cluster.answeredBy.clear();
    return { cluster, workload };
  }

  it("has as many operations as were asked for, each with its latency, all of them at the leader", async () => {
    const cluster = new ClusterInMemory();
    const run = await measure(await prepared("put", cluster), [], options, never);
    expect(run).to.include({ operations: 100, concurrency: 8, elections: 0, attempts: null });
    expect(run.timings.map(({ name }) => name)).to.deep.equal(["latency"]);
    const values = [...(run.timings[0]?.valuesMs ?? [])];
    expect(values).to.have.length(100);
    expect(values).to.deep.equal(values.toSorted((a, b) => a - b));
    expect([...cluster.answeredBy.keys()]).to.deep.equal(["b"]);
    expect(cluster.values.size, "every put has a key of its own").to.equal(cluster.puts);
    expect(cluster.openConnections).to.equal(0);
  });

  it("gives every member its share with the target any", async () => {
    const cluster = new ClusterInMemory();
    const any: RunOptions = { ...options, target: "any", concurrency: 1 };
    await measure(await prepared("put", cluster), [], any, never);
    const counts = [...cluster.answeredBy.values()];
    expect(counts).to.have.length(3);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(2);
  });

  it("reports the largest delay of each event loop, only of the run", async () => {
    const cluster = new ClusterInMemory();
    const taken: (readonly number[])[] = [];
    cluster.takeLoopDelaysMs = async () => {
      const delays = taken.length === 0 ? [900, 900, 900] : [4, 250, 6];
      taken.push(delays);
      return delays;
    };
    const run = await measure(await prepared("put", cluster), [], options, never);
    expect(run.memberLoopDelayMs).to.deep.equal([4, 250, 6]);
    expect(taken).to.have.length(2);
  });

  it("has the time of the main thread of the leader, only for a system with event loops", async () => {
    const cluster = new ClusterInMemory();
    const subject = await prepared("put", cluster);
    expect((await measure(subject, [], options, never)).leaderMainCpuMs).to.be.a("number");
    cluster.members[1] = { endpoint: "b", pid: 2 ** 30 };
    cluster.leader = cluster.members[1];
    expect((await measure(subject, [], options, never)).leaderMainCpuMs, "of a process that is gone").to.equal(null);
    cluster.members[1] = { endpoint: "b", pid: process.pid };
    cluster.leader = cluster.members[1];
    const without = Object.assign(cluster, { takeLoopDelaysMs: async () => null });
    expect((await measure({ ...subject, cluster: without }, [], options, never)).leaderMainCpuMs).to.equal(null);
  });

  it("counts the elections since it began", async () => {
    const cluster = new ClusterInMemory();
    const subject = await prepared("put", cluster);
    const terms = [7, 9];
    cluster.findLeader = async () => ({ leader: cluster.leader, term: terms.shift() ?? 0 });
    expect((await measure(subject, [], options, never)).elections).to.equal(2);
  });

  it("fails if an acknowledged put did not raise the revision", async () => {
    const cluster = new ClusterInMemory();
    const subject = await prepared("put", cluster);
    cluster.faults.losesFromPut = 0;
    const run = measure(subject, [], { ...options, warmUpMs: 0, concurrency: 1 }, never);
    expect(await failureOf(run)).to.match(/100 operations were acknowledged, but the revision grew by (49|50) instead/);
    expect(cluster.openConnections).to.equal(0);
  });

  it("fails with the first error, and when interrupted", async () => {
    const cluster = new ClusterInMemory();
    const subject = await prepared("put", cluster);
    cluster.faults.failsAtPut = 5;
    expect(await failureOf(measure(subject, [], options, never))).to.contain("the disk is full");
    const interrupted = AbortSignal.abort(new Error("interrupted by SIGINT"));
    expect(await failureOf(measure(subject, [], options, interrupted))).to.contain("interrupted by SIGINT");
    expect(cluster.openConnections).to.equal(0);
  });

  it("fails if a read answers something else than was put", async () => {
    const cluster = new ClusterInMemory();
    const subject = await prepared("get", cluster);
    const { operations } = await measure(subject, [], options, never);
    expect(operations).to.equal(100);
    for (const found of cluster.values.values()) {
      found.value = Buffer.alloc(16, "w");
    }
    expect(await failureOf(measure(subject, [], options, never))).to.contain("does not contain its value");
  });

  it("follows a log from the event that it asks for, although another one is appended before", async () => {
    const cluster = new ClusterInMemory();
    const { logs } = await cluster.connect(cluster.leader);
    const first = ((await logs?.lastSequence("log")) ?? 0) + 1;
    await logs?.append("log", Buffer.of(1), null);
    const arrived: number[] = [];
    await logs?.follow("log", first, (sequence) => void arrived.push(sequence));
    await logs?.append("log", Buffer.of(2), null);
    expect(arrived).to.deep.equal([1, 2]);
  });

  for (const { name } of scenarios) {
    it(`of ${name} succeeds twice on a cluster without faults, and leaves no connection`, async () => {
      const cluster = new ClusterInMemory();
      const subject = await prepared(name, cluster);
      for (const target of ["leader", "any"] as const) {
        const few: RunOptions = { ...options, target, bounds: { ms: 60_000, operations: 20 } };
        const run = await measure(subject, [], few, never);
        expect(run.operations).to.be.at.least(20);
        expect(cluster.openConnections).to.equal(0);
      }
    });
  }
});
