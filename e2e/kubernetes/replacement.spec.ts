/**
 * A follower, and then the leader, loses its pod and its disk. It rejoins by itself as a member with a new id, while
 * clients go on.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { IS_ALL } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
const REPLACED_MS_MAX = 90_000;

describe("A cluster that loses a disk", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  const spans: { readonly role: string; readonly fromMs: number; readonly toMs: number }[] = [];

  before(async () => {
    scene = await Scene.set("quoin-e2e-replacement");
    await scene.cluster.create({ replicas: MEMBERS });
    await scene.cluster.untilReady();
    ({ load } = await scene.startLoad());
  });

  after(() => scene?.clear());

  for (const role of IS_ALL ? (["follower", "leader"] as const) : (["leader"] as const)) {
    it(`replaces the ${role} by a member of the same name and another id, without manual steps`, async () => {
      const { cluster, kubernetes } = scene;
      const before: KubeObject[] = (await cluster.get()).status.members;
      const lost = before.find(({ leader }) => leader === (role === "leader"));
      const core = `/api/v1/namespaces/${cluster.namespace}`;
      const fromMs = nowMs();
      await kubernetes.send("DELETE", `${core}/persistentvolumeclaims/data-${lost.name}`);
      await kubernetes.send("DELETE", `${core}/pods/${lost.name}`);
      const replaced = await until(
        `${lost.name} to vote under another id`,
        async () => {
          const members: KubeObject[] = (await cluster.get()).status.members;
          return members.find(
            (member) => member.name === lost.name && member.id !== lost.id && member.role === "Voter",
          );
        },
        LIMIT_MS,
      );
      const tookMs = nowMs() - fromMs;
      report(`${role} ${lost.name} was member ${lost.id}, votes as ${replaced.id} after ${seconds(tookMs)}`);
      const { object } = await cluster.untilReady();
      expect(object.status).to.include({ voters: MEMBERS, learners: 0 });
      expect(object.status.members.map(({ id }: KubeObject) => id)).not.to.include(lost.id);
      expect(tookMs).to.be.below(REPLACED_MS_MAX);
      await load.untilMoreWrites();
      spans.push({ role, fromMs, toMs: nowMs() });
    });
  }

  it("has lost nothing, has shown nothing old, and has failed no client that retries", async () => {
    await load.stop();
    for (const { role, fromMs, toMs } of spans) {
      const { gapMs, failedWithRetries, failedWithout } = load.between(fromMs, toMs);
      report(`${role}: longest gap between writes ${seconds(gapMs)}, without retries failed ${failedWithout}`);
      expect(failedWithRetries).to.deep.equal([]);
    }
    expect(load.judge()).to.deep.equal([]);
  });
});
