/**
 * The operator crashes after its first, second, third … write outside, of every way that a cluster goes: the next one
 * always gets there, and on the way no majority is ever lost.
 */
import { expect } from "chai";
import { clusterOf } from "../../test/index.ts";
import { World, WorldOperator } from "../../test/world/index.ts";
import type { ClusterSpec, ClusterStatus } from "../plan/index.ts";

const NAME = "demo";
const NAMESPACE = "default";
/** Passes in which anything ends: of ten seconds at most each. */
const PASSES_MAX = 150;
/** No way takes more writes. */
const WRITES_MAX = 120;

describe("operator that crashes", () => {
  let world: World;
  let operator: WorldOperator;

  beforeEach(async () => {
    world = new World();
    await world.open();
    operator = await WorldOperator.start(world);
    world.check = () => {
      const { quorum } = world;
      expect(quorum.clusterId === null || quorum.hasQuorum, "a majority lives, always").to.equal(true);
    };
  });

  afterEach(async () => {
    await operator.stop();
    await world.close();
  });

  function create(spec: Partial<ClusterSpec>): void {
    const { metadata, ...cluster } = clusterOf({
      tls: { mode: "Off", certificateDays: 90, renewBeforeDays: 30 },
      ...spec,
    });
    const { name } = metadata;
    world.api.store.create("coordinationclusters", NAMESPACE, { ...cluster, metadata: { name } });
  }

  function edit(spec: Partial<ClusterSpec>): void {
    const { store } = world.api;
    store.merge("coordinationclusters", store.get("coordinationclusters", NAMESPACE, NAME), { spec });
  }

  function status(): ClusterStatus {
    return world.api.store.get("coordinationclusters", NAMESPACE, NAME).status ?? {};
  }

  function isAsAsked(): boolean {
    const { metadata, spec } = world.api.store.get("coordinationclusters", NAMESPACE, NAME);
    const { observedGeneration, conditions } = status();
    const ready = conditions?.find(({ type }) => type === "Ready");
    const claims = world.api.store.list("persistentvolumeclaims").length;
    return observedGeneration === metadata.generation && ready?.status === "True" && claims === spec.replicas;
  }

  /** @returns whether the operator crashed on the way */
  async function converge(what: string): Promise<boolean> {
    let crashed = false;
    for (let passes = 0; passes < PASSES_MAX; passes++) {
      const pauseMs = await operator.pass(NAMESPACE, NAME).catch(() => 200);
      if (world.isDown) {
        crashed = true;
        await operator.stop();
        world.revive();
        operator = await WorldOperator.start(world);
      } else if (isAsAsked() && operator.plan?.step === null) {
        return crashed;
      }
      world.advance(Math.max(200, pauseMs ?? 0));
    }
    const { step, hold } = operator.plan ?? {};
    const last = [...world.writes.slice(-10), JSON.stringify({ step, hold }), ...operator.failures.slice(-3)].join(
      "\n",
    );
    throw new Error(
      `${what}: not there after ${PASSES_MAX} passes; ${JSON.stringify(status().conditions?.[0])}\n${last}`,
    );
  }

  it("founds a cluster once, whenever it crashes", async () => {
    let crashes = 0;
    for (let writes = 1; writes < WRITES_MAX; writes++) {
      create({ replicas: 1 });
      world.crashAfter(writes);
      const crashed = await converge(`founding, crash after write ${writes}`);
      expect(world.quorum.slots).to.have.length(1);
      await operator.stop();
      await world.close();
      world = new World();
      await world.open();
      operator = await WorldOperator.start(world);
      if (!crashed) {
        break;
      }
      crashes += 1;
    }
    expect(crashes).to.be.greaterThan(15);
  }).timeout(120_000);

  it("grows from 1 to 3 and shrinks back, whenever it crashes", async () => {
    create({ replicas: 1 });
    await converge("founding");
    const crashes = { up: 0, down: 0 };
    for (let writes = 1; writes < WRITES_MAX; writes++) {
      edit({ replicas: 3 });
      world.crashAfter(writes);
      const crashedUp = await converge(`1 → 3, crash after write ${writes}`);
      edit({ replicas: 1 });
      world.crashAfter(writes);
      const crashedDown = await converge(`3 → 1, crash after write ${writes}`);
      crashes.up += crashedUp ? 1 : 0;
      crashes.down += crashedDown ? 1 : 0;
      world.revive();
      if (!crashedUp && !crashedDown) {
        break;
      }
    }
    expect(world.quorum.voterCounts).to.not.include(2);
    expect(crashes.up).to.be.greaterThan(10);
    expect(crashes.down).to.be.greaterThan(8);
  }).timeout(180_000);

  it("replaces every pod for a new version, one at a time and the leader last, whenever it crashes", async () => {
    create({ replicas: 3 });
    await converge("founding of three");
    let crashes = 0;
    for (let writes = 1; writes < WRITES_MAX; writes++) {
      const { leaderId, slots } = world.quorum;
      const leader = slots.find(({ id }) => id === leaderId)?.name;
      const before = world.writes.length;
      edit({ version: writes % 2 === 0 ? "1.4.0" : "1.5.0" });
      world.crashAfter(writes);
      const crashed = await converge(`new version, crash after write ${writes}`);
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
