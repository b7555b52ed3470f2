/**
 * The API server is stopped while clients read and write. No client notices, and no member restarts. Afterwards the
 * operator continues without a storm of requests.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import { LoadPod } from "./load-pod.ts";
import { requestsWithin } from "./operator-requests.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
/** Longer than the Lease of an operator lasts. */
const STOPPED_MS = 120_000;
/** Requests are counted for this long, before and after. */
const WINDOW_MS = 20_000;
/** Everything is listed again, and each change of a pod triggers a pass: that is not a storm yet. */
const STORM_FACTOR = 4;

describeWithAll("A cluster whose API server is stopped", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  let fromMs = 0;
  let toMs = 0;

  before(async function () {
    scene = await Scene.set("quoin-e2e-api-server");
    if (scene.kubernetes.cluster.faults === null) {
      this.skip();
    }
    await scene.cluster.create({ replicas: MEMBERS });
    await scene.cluster.untilReady();
    await scene.cluster.untilPodsReady(MEMBERS);
    // Without a watch of the Service, which would not survive.
    load = await LoadPod.start(scene.cluster);
  });

  after(() => scene?.clear());

  it("restarts no member, and is reconciled again without a storm of requests", async () => {
    const { cluster, kubernetes } = scene;
    const { faults } = kubernetes.cluster;
    const [before, { status }] = await Promise.all([lives(), cluster.get()]);
    const usual = await requestsWithin(kubernetes, WINDOW_MS);
    fromMs = nowMs();
    try {
      await faults?.stopApiServer();
      await until("the API server to have been gone for long", () => nowMs() - fromMs >= STOPPED_MS, LIMIT_MS);
    } finally {
      faults?.startApiServer();
    }
    await until("the API server to answer", isAnswered, LIMIT_MS);
    const startedMs = nowMs();
    const [after, lookedAfterMs] = await Promise.all([requestsWithin(kubernetes, WINDOW_MS), untilLookedAfter()]);
    toMs = nowMs();
    report(
      `${seconds(startedMs - fromMs)} without an API server; looked after again ${seconds(lookedAfterMs - startedMs)} later; ` +
        `requests of operators in ${seconds(WINDOW_MS)}: ${usual} before, ${after} after`,
    );
    const { object } = await cluster.untilReady();
    report(
      `led by ${status.leader} in term ${status.term} before, by ${object.status.leader} in term ${object.status.term} after`,
    );
    expect(await lives()).to.deep.equal(before);
    expect(object.status).to.include({ voters: MEMBERS, learners: 0 });
    expect(usual, "requests before").to.be.above(0);
    expect(after).to.be.at.most(STORM_FACTOR * usual);
  });

  it("has lost nothing, has shown nothing old, and has failed no client", async () => {
    await load.untilMoreWrites();
    await load.stop();
    const { acknowledgedWrites, gapMs, failedWithRetries, failedWithout } = load.between(fromMs, toMs);
    report(
      `${acknowledgedWrites} writes, longest gap between them ${seconds(gapMs)}, without retries failed ${failedWithout}`,
    );
    expect(load.judge()).to.deep.equal([]);
    expect(failedWithRetries).to.deep.equal([]);
    expect(failedWithout).to.equal(0);
  });

  /** Values that change with each restart of a pod or its container. */
  async function lives(): Promise<unknown[]> {
    return (await scene.cluster.pods()).map(({ metadata, status }: KubeObject) => {
      const [container] = status.containerStatuses;
      return [metadata.name, metadata.uid, container.restartCount, container.state.running?.startedAt];
    });
  }

  async function isAnswered(): Promise<boolean> {
    return await scene.kubernetes.cluster.kubectl(["get", "--raw", "/readyz"]).then(
      () => true,
      () => false,
    );
  }

  /** A running operator restores what is deleted. Returns when it did. */
  async function untilLookedAfter(): Promise<number> {
    const { kubernetes, cluster } = scene;
    const path = `/apis/policy/v1/namespaces/${cluster.namespace}/poddisruptionbudgets/${cluster.name}`;
    const { metadata } = await kubernetes.get(path);
    await kubernetes.send("DELETE", path);
    const isBack = async (): Promise<boolean> => {
      const budget = await kubernetes.get(path);
      return budget !== null && budget.metadata.uid !== metadata.uid;
    };
    await until("the budget that was deleted to be back", isBack, LIMIT_MS);
    return nowMs();
  }
});
