import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { closedLoop } from "./closed-loop.ts";
import { PageWrites } from "./memory.ts";

const PAGES = 300;

describe("scenario memory", () => {
  /** A workload on a small region, with pages in a fixed order that reaches all of them. */
  function workload() {
    let next = 0;
    return closedLoop(new PageWrites(PAGES, () => (((next++ * 7) % PAGES) + 0.5) / PAGES));
  }

  it("fills the region, and then writes whole pages at aligned offsets", async () => {
    const cluster = new ClusterInMemory();
    const { operations } = await performed(workload(), cluster, 4, 100);
    expect(operations).to.equal(100);
    const { bytes, version } = cluster.regions[0] ?? { bytes: Buffer.alloc(0), version: 0n };
    expect(bytes).to.have.length(PAGES * 4096);
    // It was filled in two parts.
    expect(version).to.equal(1n + 2n + 100n);
    const numbers = Array.from({ length: PAGES }, (_, page) => bytes.readUInt32LE(page * 4096));
    expect(numbers).to.deep.equal(Array.from({ length: PAGES }, (_, page) => page));
    expect(bytes.at(-1), "the region is full").to.not.equal(0);
    const writes = Array.from({ length: PAGES }, (_, page) => bytes.readUInt32LE(page * 4096 + 4));
    expect(writes.filter((write) => write > 0)).to.have.length(100);
  });

  it("fails when an acknowledged write is missing, even if the revision is right", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.forgetsWrites = true;
    expect(await failureOf(performed(workload(), cluster, 4, 20))).to.contain("do not contain their last writes");
  });

  it("fails when the region was written more often than requested", async () => {
    const cluster = new ClusterInMemory();
    const connect = cluster.connect.bind(cluster);
    cluster.connect = async (member) => {
      const connection = await connect(member);
      return {
        ...connection,
        close: () => {
          for (const region of cluster.regions) {
            region.version++;
          }
          connection.close();
        },
      };
    };
    expect(await failureOf(performed(workload(), cluster, 4, 20))).to.contain("but has the version 24");
  });

  it("fails without regions", async () => {
    const cluster = new ClusterInMemory();
    const connect = cluster.connect.bind(cluster);
    cluster.connect = async (member) => ({ ...(await connect(member)), regions: null });
    expect(await failureOf(performed(workload(), cluster, 4, 20))).to.contain("no memory regions");
  });
});
