import { expect } from "chai";
import type { Table } from "./harness/index.ts";
import { ClusterLostError, LocalConformanceCluster } from "./local-cluster.ts";
import { type Result, run, testCasesOf } from "./run.ts";

const START_LIMIT_MS = 300_000; // Three processes start while other tests keep the cores busy.

describe("the cluster of the conformance suite", function () {
  this.timeout(START_LIMIT_MS);
  let cluster: LocalConformanceCluster;

  beforeEach(async () => {
    cluster = await LocalConformanceCluster.start();
  });

  afterEach(() => cluster?.remove());

  it("stays for the other entries when one cannot clean up", async () => {
    const table: Table = {
      name: "a table",
      entries: {
        "cannot clean up": async (context) => {
          context.atEnd(() => Promise.reject(new Error("the connection is gone")));
        },
        "asks, while the other one has ended": async (context) => {
          while (results.length === 0) {
            expect((await context.http().call("GET", "/keys")).status).to.equal(200);
          }
        },
      },
    };
    const results: Result[] = [];
    await run(await cluster.target(), testCasesOf([table], 1), (result) => results.push(result), cluster.lost);
    const told = results.map(({ testCase, outcome, error }) => [testCase.title, outcome, error?.message ?? ""]);
    expect(told).to.deep.equal([
      ["cannot clean up", "failed", "the entry could not clean up: the connection is gone"],
      ["asks, while the other one has ended", "passed", ""],
    ]);
  });

  it("reports which member has ended, and the last log lines, and the run ends", async () => {
    const table: Table = { name: "a table", entries: { "waits for ever": () => new Promise(() => undefined) } };
    const running = run(await cluster.target(), testCasesOf([table], 1), () => undefined, cluster.lost);
    const [name, pid] = [...cluster.memberPids][1] ?? expect.fail("there are three members");
    process.kill(pid, "SIGKILL");
    const error = await running.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ClusterLostError);
    const { message, evidence } = error as ClusterLostError;
    expect(message).to.equal(`the cluster was lost: ${name} ended (SIGKILL)`);
    for (const log of ["q-0.log", "q-1.log", "q-2.log"]) {
      expect(evidence).to.match(new RegExp(`${log}\n\\{"level"`));
    }
  });

  it("reports that its launcher has ended, and how", async () => {
    process.kill(cluster.launcherPid, "SIGKILL");
    const error = await cluster.lost.catch((thrown: unknown) => thrown);
    expect((error as ClusterLostError).message).to.equal("the cluster was lost: the launcher ended (SIGKILL)");
  });
});
