import { rmSync } from "node:fs";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { BuildError, buildLoad, QuoinCluster } from "../clusters/index.ts";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { keysOf } from "./capabilities.ts";
import { get } from "./get.ts";
import { byGo } from "./go-load.ts";
import { lock } from "./lock.ts";
import { put } from "./put.ts";

/** A build of the program needs the sources of its modules. */
const BUILD_MS = 180_000;
const VALUE_BYTES = 16;

describe("the generator in Go", () => {
  it("supports only puts and gets, of systems whose calls are known", async () => {
    expect(() => byGo(lock, "none")).to.throw("cannot do lock");
    const context = { cluster: new ClusterInMemory(), leader: { endpoint: "a", pid: 1 }, members: [] };
    const opened = byGo(put, "none").createWorkload(VALUE_BYTES).open(context, 1);
    expect(await opened.catch(String)).to.include("does not know the calls of memory");
  });

  describe("at a cluster of ours", () => {
    let directory: string;
    let cluster: QuoinCluster;
    let program: string;

    before(async function () {
      this.timeout(BUILD_MS);
      try {
        program = await buildLoad(new AbortController().signal);
      } catch (error) {
        if (error instanceof BuildError && error.message.includes("there is no Go")) {
          this.skip();
        }
        throw error;
      }
      directory = temporaryDirectory();
      cluster = await QuoinCluster.start(1, directory);
    });

    after(async () => {
      await cluster?.stop();
      rmSync(directory ?? "", { recursive: true, force: true });
    });

    /** The same cluster with these changes. */
    function changed(changes: Partial<Pick<QuoinCluster, "rawCalls" | "connect">>): QuoinCluster {
      return Object.assign(Object.create(cluster) as QuoinCluster, {
        connect: cluster.connect.bind(cluster),
        findLeader: cluster.findLeader.bind(cluster),
        rawCalls: cluster.rawCalls.bind(cluster),
        ...changes,
      });
    }

    for (const scenario of [put, get]) {
      it(`does the requested number: ${scenario.name}`, async () => {
        const workload = byGo(scenario, program).createWorkload(VALUE_BYTES);
        const { operations, timings, generatorCpuMs } = await performed(workload, cluster, 5, 40);
        expect(operations).to.equal(40);
        expect(timings[0]?.valuesMs.length).to.equal(40);
        expect(generatorCpuMs).to.be.greaterThan(0);
      });
    }

    it("fails with the first call that fails", async () => {
      const refused = changed({
        rawCalls: async () => {
          const calls = await cluster.rawCalls();
          return { ...calls, put: (...args) => ({ ...calls.put(...args), headers: { "api-version": "v1" } }) };
        },
      });
      const failure = await failureOf(performed(byGo(put, program).createWorkload(VALUE_BYTES), refused, 5, 40));
      expect(failure).to.include("the generator in Go failed").and.to.include("Unauthenticated");
    });

    it("fails if the revision does not show the puts", async () => {
      const forgetful = changed({
        connect: async (member) => {
          const connection = await cluster.connect(member);
          const keys = keysOf(connection);
          const read = keys.get.bind(keys);
          const get = async (key: string) => ({ ...(await read(key)), revision: 1n });
          Object.assign(keys, { get });
          return connection;
        },
      });
      const failure = await failureOf(performed(byGo(put, program).createWorkload(VALUE_BYTES), forgetful, 1, 3));
      expect(failure).to.include("the revision grew by 0 instead of 3");
    });
  });
});
