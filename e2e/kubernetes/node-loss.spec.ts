/**
 * The leader is cut off with its whole node. Clients on its side can neither write nor read old values; all others soon
 * have another leader, and everything recovers after the cut. Members that are cut off from the API server only
 * continue to work, and the leader Service still finds the next leader.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import type { LeaderEndpoints } from "./leader-endpoints.ts";
import { nowMs } from "./load/index.ts";
import { LoadPod } from "./load-pod.ts";
import { conditionOf, containerIdOf, LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
const GAP_MS_MAX = 2_500;
/** The Service must route to the next leader within this time. */
const SERVICE_MS_MAX = 5_000;
/** Messages that the leader sent before the cut may still be acknowledged; later it hears from no member. */
const LAST_ANSWERS_MS = 1_000;
/** About twenty seconds of the load. */
const WRITES_WHILE_CUT = 4_000;

describeWithAll("A cluster during a network cut", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;

  beforeEach(async function () {
    scene = await Scene.set("quoin-e2e-node-loss");
    if (scene.kubernetes.cluster.faults === null) {
      this.skip();
    }
    await scene.cluster.create({ replicas: MEMBERS, scheduling: { spread: "Required" } });
    await scene.cluster.untilReady();
    await scene.cluster.untilPodsReady(MEMBERS);
  });

  afterEach(() => scene?.clear());

  it("of the leader's node: has another leader, and never two that write", async () => {
    const { cluster, kubernetes } = scene;
    const { faults } = kubernetes.cluster;
    const leader = await leaderPod();
    const { nodeName } = leader.spec;
    const { load, endpoints } = await scene.startLoad({ notOn: nodeName });
    const inside = await LoadPod.start(cluster, { label: "inside", on: nodeName });
    expect((await leaderPod()).metadata.name, "who leads").to.equal(leader.metadata.name);
    const fromMs = nowMs();
    let cutMs: number;
    let toMs: number;
    let serviceMs: number;
    try {
      await faults?.cutNode(nodeName);
      cutMs = nowMs();
      serviceMs = await serviceFollows(endpoints, leader.metadata.name, fromMs);
      await until(`${nodeName} to be missed`, async () => (await readinessOf(nodeName)) === "Unknown", LIMIT_MS);
      await load.untilMoreWrites();
    } finally {
      toMs = nowMs();
      await faults?.reconnectNode(nodeName);
    }
    await until(`${nodeName} to come back`, async () => (await readinessOf(nodeName)) === "True", LIMIT_MS);
    await cluster.untilPodsReady(MEMBERS);
    const { object } = await cluster.untilReady();
    report(`all are well again ${seconds(nowMs() - toMs)} after the cut, which took ${seconds(toMs - cutMs)}`);
    expect(object.status).to.include({ voters: MEMBERS, learners: 0 });
    expect((await cluster.pod(leader.metadata.name)).metadata.uid, "the pod").to.equal(leader.metadata.uid);
    await inside.untilMoreWrites();
    await load.stop();
    await inside.stop();
    const { gapMs, failedWithRetries, failedWithout } = load.between(fromMs, toMs);
    report(
      `longest gap between writes ${seconds(gapMs)}, Service right after ${seconds(serviceMs)}, ` +
        `failed ${failedWithRetries.length} with and ${failedWithout} without retries`,
    );
    const cut = inside.between(cutMs + LAST_ANSWERS_MS, toMs);
    report(`beside the old leader: ${cut.acknowledgedWrites} writes acknowledged, ${cut.failedWithout} refused`);
    expect(cut.failedWithout, "attempts beside the old leader").to.be.above(0);
    expect(cut.acknowledgedWrites, "writes beside the old leader").to.equal(0);
    expect(load.judge(inside)).to.deep.equal([]);
    expect(gapMs).to.be.at.most(GAP_MS_MAX);
    expect(serviceMs).to.be.at.most(SERVICE_MS_MAX);
  });

  for (const [whom, tellers] of [
    ["the leader", "others report"],
    ["all members", "the operator reports"],
  ] as const) {
    it(`between ${whom} and the API server: goes on, and ${tellers} who leads next`, async () => {
      const { cluster, kubernetes } = scene;
      const { faults } = kubernetes.cluster;
      const leader = await leaderPod();
      const { load, endpoints } = await scene.startLoad();
      const { term } = (await cluster.get()).status;
      const chosen: readonly KubeObject[] = whom === "the leader" ? [leader] : await cluster.pods();
      const cutNodes: string[] = [];
      const fromMs = nowMs();
      let killedMs: number;
      let toMs: number;
      let serviceMs: number;
      try {
        for (const { spec, status } of chosen) {
          cutNodes.push(spec.nodeName);
          await faults?.cutFromApiServer(spec.nodeName, status.podIP);
        }
        // Meanwhile the operator makes several passes, and each member checks its label several times.
        await load.untilMoreWrites(WRITES_WHILE_CUT);
        expect((await cluster.get()).status).to.include({ leader: leader.metadata.name, term });
        killedMs = nowMs();
        faults?.killContainer(leader.spec.nodeName, containerIdOf(leader));
        serviceMs = await serviceFollows(endpoints, leader.metadata.name, killedMs);
        await cluster.untilPodsReady(MEMBERS);
        await load.untilMoreWrites();
        toMs = nowMs();
      } finally {
        for (const node of cutNodes) {
          await faults?.reconnectToApiServer(node);
        }
      }
      const { object } = await cluster.untilReady();
      expect(object.status).to.include({ voters: MEMBERS, learners: 0 });
      await load.stop();
      const before = load.between(fromMs, killedMs);
      const after = load.between(killedMs, toMs);
      report(
        `longest gap between writes ${seconds(before.gapMs)} while cut off, ${seconds(after.gapMs)} when killed then; ` +
          `Service right after ${seconds(serviceMs)}, to several ${seconds(endpoints.severalMs(fromMs, toMs))}`,
      );
      expect(load.judge()).to.deep.equal([]);
      expect(before.failedWithRetries).to.deep.equal([]);
      expect(before.failedWithout).to.equal(0);
      expect(after.gapMs).to.be.at.most(GAP_MS_MAX);
      expect(serviceMs).to.be.at.most(SERVICE_MS_MAX);
      expect(endpoints.severalMs(fromMs, toMs)).to.equal(0);
    });
  }

  async function leaderPod(): Promise<KubeObject> {
    return until("a leader", () => scene.cluster.leaderPod(), LIMIT_MS);
  }

  /** Time until another pod led and the Service routed to it alone, in milliseconds. */
  async function serviceFollows(endpoints: LeaderEndpoints, former: string, sinceMs: number): Promise<number> {
    const next = await scene.cluster.untilAnotherLeads(former);
    const what = `the Service to lead to ${next} instead of ${former}`;
    return (await until(what, () => endpoints.aloneSince(next, sinceMs), LIMIT_MS)) - sinceMs;
  }

  async function readinessOf(node: string): Promise<string> {
    return conditionOf(await scene.kubernetes.get(`/api/v1/nodes/${node}`), "Ready")?.status;
  }
});
