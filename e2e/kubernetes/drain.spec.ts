/**
 * Nodes are drained. The leader hands over its leadership before it goes, and no second voter goes until the first is
 * back. New members that cannot be scheduled delay no drain.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { isPodReady, LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

/** One on each node of the harness, so that no node has space for others. */
const MEMBERS = 3;
const MEMBERS_WITHOUT_PLACE = 5;
const GAP_MS_MAX = 1_000;
const DRAIN_SECONDS = 100;
/** A drain retries every five seconds as long as a budget refuses. */
const REFUSED_SECONDS = 12;

describeWithAll("A cluster whose nodes are drained", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  const cordoned: string[] = [];
  const spans: { readonly what: string; readonly fromMs: number; readonly toMs: number }[] = [];

  before(async function () {
    scene = await Scene.set("quoin-e2e-drain");
    if (scene.kubernetes.cluster.faults === null) {
      this.skip();
    }
    const { cluster } = scene;
    await cluster.create({ replicas: MEMBERS, scheduling: { spread: "Required" } });
    await cluster.untilReady();
    ({ load } = await scene.startLoad({ notOn: (await leaderPod()).spec.nodeName }));
  });

  after(async () => {
    try {
      await uncordonAll();
    } finally {
      await scene?.clear();
    }
  });

  it("lets the leader go, though two members more are waiting for a node, and has another one at once", async () => {
    const { cluster } = scene;
    await cluster.scale(MEMBERS_WITHOUT_PLACE);
    await until("members without a node", async () => (await podsWithoutNode()).length > 0, LIMIT_MS);
    const leader = await leaderPod();
    const fromMs = nowMs();
    await drain(leader.spec.nodeName, DRAIN_SECONDS);
    const tookMs = nowMs() - fromMs;
    const next = await cluster.untilAnotherLeads(leader.metadata.name);
    await load.untilMoreWrites();
    spans.push({ what: `${leader.metadata.name} drained in ${seconds(tookMs)}, ${next} leads`, fromMs, toMs: nowMs() });
    expect((await cluster.pod(leader.metadata.name))?.metadata.uid, "the pod").not.to.equal(leader.metadata.uid);
  });

  it("keeps the second voter", async () => {
    const { cluster } = scene;
    const second = (await cluster.pods()).find(isPodReady);
    const fromMs = nowMs();
    const refusal = await drain(second.spec.nodeName, REFUSED_SECONDS, `quoin.dev/cluster=${cluster.name}`).then(
      () => "none",
      (error: Error) => error.message,
    );
    spans.push({ what: `${second.metadata.name} not drained`, fromMs, toMs: nowMs() });
    expect(refusal).to.include("would violate the pod's disruption budget");
    const now = await cluster.pod(second.metadata.name);
    expect(now.metadata.uid).to.equal(second.metadata.uid);
    expect(isPodReady(now)).to.equal(true);
  });

  it("is whole again when the nodes are back", async () => {
    const { cluster } = scene;
    // First, so that a new member cannot take the place of one whose volume is on that node.
    await cluster.scale(MEMBERS);
    await until("the new members to be gone", async () => (await cluster.pods()).length === MEMBERS, LIMIT_MS);
    await uncordonAll();
    const { object, tookMs } = await cluster.untilReady();
    report(`Ready again ${seconds(tookMs)} after the nodes were`);
    expect(object.status).to.include({ voters: MEMBERS, learners: 0 });
  });

  it("has lost nothing, has shown nothing old, and has failed no client that retries", async () => {
    await load.stop();
    const gaps = spans.map(({ what, fromMs, toMs }) => {
      const { gapMs } = load.between(fromMs, toMs);
      report(`${what}: longest gap between writes ${seconds(gapMs)}`);
      return gapMs;
    });
    const { failedWithRetries, failedWithout } = load.between(0, nowMs());
    report(`without retries failed ${failedWithout}`);
    expect(load.judge()).to.deep.equal([]);
    expect(failedWithRetries).to.deep.equal([]);
    expect(gaps.filter((gapMs) => gapMs > GAP_MS_MAX)).to.deep.equal([]);
  });

  function leaderPod(): Promise<KubeObject> {
    return until("a leader", () => scene.cluster.leaderPod(), LIMIT_MS);
  }

  /** New members: they have neither a node nor a volume. */
  async function podsWithoutNode(): Promise<KubeObject[]> {
    return (await scene.cluster.pods()).filter((pod) => pod.spec.nodeName === undefined);
  }

  /** As a person does it. Rejects with kubectl's message if pods stay. */
  async function drain(node: string, limitSeconds: number, selector?: string): Promise<void> {
    cordoned.push(node);
    await scene.kubernetes.cluster.kubectl([
      ...["drain", node, "--ignore-daemonsets", "--delete-emptydir-data", `--timeout=${limitSeconds}s`],
      ...(selector === undefined ? [] : [`--pod-selector=${selector}`]),
    ]);
  }

  async function uncordonAll(): Promise<void> {
    if (cordoned.length > 0) {
      await scene.kubernetes.cluster.kubectl(["uncordon", ...cordoned]);
    }
  }
});
