import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { QuoinCluster } from "../clusters/index.ts";
import { performed } from "../test/index.ts";
import { closedLoop } from "./closed-loop.ts";
import { scenarios } from "./index.ts";
import { PageWrites } from "./memory.ts";

describe("scenarios on a cluster of Quoin", () => {
  let directory: string;
  let cluster: QuoinCluster;

  before(async () => {
    directory = temporaryDirectory();
    cluster = await QuoinCluster.start(1, directory);
  });

  after(() => cluster.stop());

  for (const { name, createWorkload } of scenarios) {
    it(`do their work: ${name}`, async () => {
      // A small region shows as much as a large one, and is quickly filled.
      const workload = name === "memory" ? closedLoop(new PageWrites(300, Math.random)) : createWorkload(16);
      const { operations } = await performed(workload, cluster, 5, 20);
      expect(operations).to.be.at.least(20);
    });
  }

  it("have a leader, in a term, and report the delay of its event loop", async () => {
    const leadership = await cluster.findLeader();
    expect(leadership?.leader).to.equal(cluster.members[0]);
    expect(leadership?.term).to.be.at.least(1);
    const [delayMs, ...others] = await cluster.takeLoopDelaysMs();
    expect(delayMs).to.be.at.least(0);
    expect(others).to.deep.equal([]);
  });
});
