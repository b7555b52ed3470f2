/**
 * The operator crashes after its first, second, third … write outside, on every way that a cluster goes: the next one
 * always gets there, and on the way no majority is ever lost.
 */
import { expect } from "chai";
import { Drive } from "../../test/world/index.ts";

/** No way takes more writes. */
const WRITES_MAX = 120;

describe("operator that crashes", () => {
  let drive: Drive;

  async function begin(): Promise<void> {
    drive = new Drive();
    await drive.begin();
    drive.world.check = () => {
      const { quorum } = drive.world;
      expect(quorum.clusterId === null || quorum.hasQuorum, "a majority lives, always").to.equal(true);
    };
  }

  beforeEach(begin);

  afterEach(() => drive.end());

  it("founds a cluster once, whenever it crashes", async () => {
    let crashes = 0;
    for (let writes = 1; writes < WRITES_MAX; writes++) {
      drive.create({ replicas: 1 });
      drive.world.crashAfter(writes);
      const crashed = await drive.converge(`founding, crash after write ${writes}`);
      expect(drive.world.quorum.voterCounts).to.deep.equal([1]);
      if (!crashed) {
        break;
      }
      crashes += 1;
      await drive.end();
      await begin();
    }
    expect(crashes).to.be.greaterThan(15);
  }).timeout(120_000);

  it("grows from 1 to 3 and shrinks back, whenever it crashes", async () => {
    drive.create({ replicas: 1 });
    await drive.converge("founding");
    const crashes = { up: 0, down: 0 };
    const go = async (replicas: number, writes: number): Promise<number> => {
      drive.edit({ spec: { replicas } });
      drive.world.crashAfter(writes);
      const crashed = await drive.converge(`to ${replicas}, crash after write ${writes}`);
      drive.world.revive();
      return crashed ? 1 : 0;
    };
    for (let writes = 1; writes < WRITES_MAX; writes++) {
      const [up, down] = [await go(3, writes), await go(1, writes)];
      crashes.up += up;
      crashes.down += down;
      if (up + down === 0) {
        break;
      }
    }
    expect(drive.world.quorum.voterCounts).to.not.include(2);
    expect(crashes.up).to.be.greaterThan(10);
    expect(crashes.down).to.be.greaterThan(8);
  }).timeout(180_000);

  it("replaces every pod for a new version, one at a time and the leader last, whenever it crashes", async () => {
    drive.create({ replicas: 3 });
    await drive.converge("founding of three");
    const { world } = drive;
    let crashes = 0;
    for (let writes = 1; writes < WRITES_MAX; writes++) {
      const { leaderId, slots } = world.quorum;
      const leader = slots.find(({ id }) => id === leaderId)?.name;
      const before = world.writes.length;
      drive.edit({ spec: { version: writes % 2 === 0 ? "1.4.0" : "1.5.0" } });
      world.crashAfter(writes);
      const crashed = await drive.converge(`new version, crash after write ${writes}`);
      world.revive();
      const evicted = world.writes.slice(before).filter((write) => write.endsWith("/eviction"));
      expect(evicted, "each pod once").to.have.members([0, 1, 2].map((at) => `POST pods/demo-${at}/eviction`));
      expect(evicted.at(-1), "the leader last").to.equal(`POST pods/${leader}/eviction`);
      if (!crashed) {
        break;
      }
      crashes += 1;
    }
    expect(crashes).to.be.greaterThan(8);
  }).timeout(180_000);
});
