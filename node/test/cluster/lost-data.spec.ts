import { truncateSync } from "node:fs";
import { expect } from "chai";
import { ClusterUnderTest, segmentsOf, usedBytes } from "../harness/index.ts";

const KEYS = 200;

async function writeKeys(cluster: ClusterUnderTest, value: string): Promise<void> {
  const client = cluster.client();
  for (let key = 0; key < KEYS; key++) {
    await client.keyValue.put("default", `key-${key}`, value);
  }
}

async function requireKeys(cluster: ClusterUnderTest, endpoint: string, value: string): Promise<void> {
  const client = cluster.client([endpoint]);
  for (let key = 0; key < KEYS; key++) {
    const found = await client.keyValue.get("default", `key-${key}`);
    expect(Buffer.from(found.value).toString(), `key-${key}`).to.equal(value);
  }
}

/** Cuts half of the last segment off the Raft log, like a disk that lost writes. */
function loseWrites(dataDirectory: string): void {
  const newest = segmentsOf(dataDirectory).at(-1);
  if (newest === undefined) {
    throw new Error(`no segment of the log in ${dataDirectory}`);
  }
  truncateSync(newest, Math.floor(usedBytes(newest) / 2));
}

describe("a member of three that lost data", () => {
  let cluster: ClusterUnderTest;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
  });

  ClusterUnderTest.describeFailures(() => cluster);

  after(() => cluster.dispose());

  it("is refused when its directory is empty, and returns under a new id once replaced (P46, P61)", async () => {
    await writeKeys(cluster, "before the loss");
    const lost = await cluster.follower();
    const { name } = lost;
    const [oldId] = await cluster.idsOf([name]);
    await lost.kill();
    lost.wipe();
    lost.start();
    const { alarms, id } = await lost.untilState("MEMBER_DATA_LOST");
    expect(id).to.equal("");
    expect(alarms.join()).to.contain(name).and.to.contain(oldId);
    expect(await lost.isReady()).to.equal(false);
    await writeKeys(cluster, "without it");

    await cluster.remove(name);
    await cluster.add(name);
    await cluster.promote(name);
    await lost.untilReady();
    const [newId] = await cluster.idsOf([name]);
    expect(newId).to.not.equal(oldId);
    expect((await lost.status())?.id).to.equal(newId);
    await requireKeys(cluster, lost.grpc, "without it");
  });

  it("follows without a vote when its log lost its end, and heals by itself (G4, P33, P46)", async () => {
    await writeKeys(cluster, "to be lost");
    await cluster.untilStable();
    const damaged = await cluster.follower();
    await damaged.kill();
    loseWrites(damaged.dataDirectory);
    await writeKeys(cluster, "meanwhile");
    damaged.start();
    await damaged.untilState("RUNNING");
    expect(damaged.output, "it noticed at its start").to.contain("MEMBER_DAMAGED");
    await damaged.untilReady();
    await requireKeys(cluster, damaged.grpc, "meanwhile");
    // It has its vote again: without one of the others it takes part in every decision.
    const other = cluster.members.find((member) => member !== damaged && member.isAlive);
    await other?.kill();
    await writeKeys(cluster, "with its vote");
    other?.start();
    await cluster.untilReady();
    // And its health is durable.
    await damaged.restart();
    await damaged.untilReady();
    expect(damaged.output).to.not.contain("MEMBER_DAMAGED");
  });
});
