import { expect } from "chai";
import type { Connection, MeasuredCluster, MeasuredMember } from "./clusters/index.ts";
import { measure, type RunOptions } from "./measure.ts";
import { createWorkload } from "./workload.ts";

/** A cluster in this process, with as many faults as a test asks for. */
class ClusterInMemory implements MeasuredCluster {
  readonly name = "memory";
  readonly version = "1";
  readonly members: readonly MeasuredMember[] = ["a", "b", "c"].map((endpoint) => ({ endpoint, pid: process.pid }));
  readonly values = new Map<string, Buffer>();
  /** Puts that each member answered. */
  readonly putsByMember = new Map<string, number>();
  /** From this put on, every other one is acknowledged without being done. */
  losesFromPut = Infinity;
  failsAtPut = Infinity;
  leader = this.members[1] as MeasuredMember;
  puts = 0;
  revision = 0n;
  openConnections = 0;

  async findLeader(): Promise<MeasuredMember> {
    return this.leader;
  }

  async connect({ endpoint }: MeasuredMember): Promise<Connection> {
    this.openConnections++;
    return {
      put: (key, value) => this.#put(endpoint, key, value),
      get: async (key) => ({ value: this.values.get(key) as Buffer, revision: this.revision }),
      close: () => {
        this.openConnections--;
      },
    };
  }

  async stop(): Promise<void> {}

  async #put(endpoint: string, key: string, value: Buffer): Promise<bigint> {
    this.puts++;
    if (this.puts === this.failsAtPut) {
      throw new Error("the disk is full");
    }
    if (this.puts < this.losesFromPut || this.puts % 2 === 0) {
      this.values.set(key, value);
      this.revision++;
    }
    this.putsByMember.set(endpoint, (this.putsByMember.get(endpoint) ?? 0) + 1);
    return this.revision;
  }
}

const options: RunOptions = {
  target: "leader",
  inFlight: 8,
  warmUpMs: 1,
  bounds: { ms: 60_000, operations: 100 },
};

describe("a measured run", () => {
  const never = new AbortController().signal;

  /** The message of the error that a run of puts ends with. */
  async function failureOf(cluster: ClusterInMemory, interrupted = never): Promise<string> {
    try {
      await measure({ cluster, workload: createWorkload("put", 16) }, [], options, interrupted);
    } catch (error) {
      return String(error);
    } finally {
      expect(cluster.openConnections).to.equal(0);
    }
    return "no error";
  }

  it("has as many operations as were asked for, each with its latency, all of them at the leader", async () => {
    const cluster = new ClusterInMemory();
    const run = await measure({ cluster, workload: createWorkload("put", 16) }, [], options, never);
    expect(run.operations).to.equal(100);
    expect(run.latenciesMs).to.have.length(100);
    expect([...run.latenciesMs]).to.deep.equal([...run.latenciesMs].sort((a, b) => a - b));
    expect([...cluster.putsByMember.keys()]).to.deep.equal(["b"]);
    expect(cluster.values.size, "every put has a key of its own").to.equal(cluster.puts);
    expect(run.hasLeaderChanged).to.equal(false);
  });

  it("gives every member its share when any may be asked", async () => {
    const cluster = new ClusterInMemory();
    const any: RunOptions = { ...options, target: "any", inFlight: 1 };
    await measure({ cluster, workload: createWorkload("put", 16) }, [], any, never);
    const counts = [...cluster.putsByMember.values()];
    expect(counts).to.have.length(3);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(2);
  });

  it("fails if an acknowledged put did not raise the revision", async () => {
    const cluster = new ClusterInMemory();
    cluster.losesFromPut = 0;
    expect(await failureOf(cluster)).to.contain("100 operations were acknowledged, but the revision grew by 50");
  });

  it("fails with the first error, and when interrupted", async () => {
    const cluster = new ClusterInMemory();
    cluster.failsAtPut = 5;
    expect(await failureOf(cluster)).to.contain("the disk is full");
    const interrupted = AbortSignal.abort(new Error("interrupted by SIGINT"));
    expect(await failureOf(new ClusterInMemory(), interrupted)).to.contain("interrupted by SIGINT");
  });

  it("fails if a read answers something else than was put", async () => {
    const cluster = new ClusterInMemory();
    const workload = createWorkload("get", 16);
    const connection = await cluster.connect(cluster.leader);
    await workload.prepare(connection);
    connection.close();
    const { operations } = await measure({ cluster, workload }, [], options, never);
    expect(operations).to.equal(100);
    for (const key of cluster.values.keys()) {
      cluster.values.set(key, Buffer.alloc(16, "w"));
    }
    const failure = await measure({ cluster, workload }, [], options, never).catch(String);
    expect(failure).to.contain("holds something else than was put");
  });
});
