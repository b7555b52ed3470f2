/** A follower loses its pod and its disk: it becomes a member again by itself, under a new id, while clients go on. */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { Scene, seconds, tell } from "./scene.ts";

const MEMBERS = 3;
const REPLACED_MS_MAX = 90_000;

describe("A cluster that loses a follower's disk", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  let fromMs = 0;

  before(async () => {
    scene = await Scene.set("quoin-e2e-replacement");
    await scene.cluster.create({ replicas: MEMBERS });
    await scene.cluster.untilReady();
    ({ load } = await scene.startLoad());
  });

  after(() => scene?.clear());

  it("replaces the member by one of the same name and another id, without a hand", async () => {
    const { cluster, kubernetes } = scene;
    const before: KubeObject[] = (await cluster.get()).status.members;
    const lost = before.find(({ leader }) => !leader);
    const core = `/api/v1/namespaces/${cluster.namespace}`;
    fromMs = nowMs();
    await kubernetes.send(
      "DELETE",
      `${core}/persistentvolumeclaims/data-${cluster.name}-${lost.name.split("-").at(-1)}`,
    );
    await kubernetes.send("DELETE", `${core}/pods/${lost.name}`);
    const replaced = await until(
      `${lost.name} to vote under another id`,
      async () => {
        const members: KubeObject[] = (await cluster.get()).status.members;
        return members.find(({ name, id, role }) => name === lost.name && id !== lost.id && role === "Voter");
      },
      LIMIT_MS,
    );
    const tookMs = nowMs() - fromMs;
    tell(`${lost.name} was member ${lost.id}, votes as ${replaced.id} after ${seconds(tookMs)}`);
    const { object } = await cluster.untilReady();
    expect(object.status).to.include({ voters: MEMBERS, learners: 0 });
    expect(object.status.members.map(({ id }: KubeObject) => id)).not.to.include(lost.id);
    expect(tookMs).to.be.below(REPLACED_MS_MAX);
  });

  it("has lost nothing, has shown nothing old, and has failed nobody who tries again", async () => {
    await load.untilMoreWrites();
    await load.stop();
    const { gapMs, failedWithRetries, failedWithout } = load.between(fromMs, nowMs());
    tell(`longest gap between writes ${seconds(gapMs)}, without retries failed ${failedWithout}`);
    expect(load.judge()).to.deep.equal([]);
    expect(failedWithRetries).to.deep.equal([]);
  });
});
