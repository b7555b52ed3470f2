/**
 * The operator crashes after its first, second, third … external write, in every scenario of a cluster's life. The next
 * operator always completes the scenario, and a majority is never lost on the way.
 */
import { expect } from "chai";
import { Drive } from "../../test/world/index.ts";

/** No scenario needs more writes. */
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
    await drive.founded(1);
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

  it("gets there although one of 29 requests, and then of 13, is cut off or refused", async () => {
    await drive.founded(1);
    const faults = ["cut", { status: 500 }, { status: 429, headers: { "retry-after": "1" } }, { status: 503 }] as const;
    let faulty = 0;
    for (const [every, replicas] of [
      [29, 3],
      [13, 1],
      [13, 3],
    ] as const) {
      // A pass needs about a dozen reads; a different one fails each time.
      const until = drive.world.api.calls.length;
      drive.world.api.before = () =>
        (drive.world.api.calls.length - until) % every === 0 ? (faults[faulty++ % 4] ?? null) : null;
      drive.edit({ spec: { replicas } });
      await drive.converge(`to ${replicas} with faults`);
    }
    expect(faulty).to.be.greaterThan(20);
    expect(drive.world.quorum.voterCounts).to.not.include(2);
  }).timeout(120_000);

  it("does no harm beside another one, while the number of members is changed again and again", async () => {
    await drive.founded(1);
    const other = await drive.another();
    try {
      for (let at = 0; at < 12; at++) {
        drive.edit({ spec: { replicas: at % 2 === 0 ? 3 : 1 } });
        for (let passes = 0; passes <= at; passes++) {
          const both = [drive.operator, other].map((each) =>
            each.reconcile(drive.namespace, drive.name).catch(() => null),
          );
          await Promise.all(both);
          drive.world.advance(500);
        }
      }
      drive.edit({ spec: { replicas: 3 } });
      await drive.converge("at last");
    } finally {
      await other.stop();
    }
    expect(drive.world.quorum.voterCounts).to.not.include(2);
    const claims = drive.world.api.store.list("persistentvolumeclaims").map(({ metadata }) => metadata.name);
    expect(claims).to.have.members(["data-demo-0", "data-demo-1", "data-demo-2"]);
  }).timeout(120_000);

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
