/**
 * The operator is killed repeatedly while a cluster grows and shrinks under load. The cluster always reaches its
 * specified size.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { IS_ALL } from "./extent.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { OperatorKiller } from "./operator-killer.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

const STEPS = [3, 1] as const;
/** Number of visible writes between kills; in long runs, it is killed after each. */
const WRITES = IS_ALL ? 1 : 3;

describe("A cluster whose operator is killed while it grows and shrinks under load", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  let killer: OperatorKiller;
  let fromMs = 0;

  before(async function () {
    scene = await Scene.set("quoin-e2e-operator-loss");
    if (scene.kubernetes.cluster.faults === null) {
      this.skip();
    }
    await scene.cluster.create({ replicas: 1 });
    await scene.cluster.untilReady();
    ({ load } = await scene.startLoad());
    killer = new OperatorKiller(scene.cluster, WRITES);
    fromMs = nowMs();
  });

  after(async () => {
    try {
      await killer?.close();
    } finally {
      await scene?.clear();
    }
  });

  for (const replicas of STEPS) {
    it(`has ${replicas} members when it is asked for ${replicas}, and nothing is left over`, async () => {
      const { cluster } = scene;
      const killsBefore = killer.kills.length;
      killer.arm();
      await cluster.scale(replicas);
      const { object, tookMs } = await cluster.untilReady();
      killer.disarm();
      const kills = killer.kills.slice(killsBefore);
      report(`to ${replicas}: ${seconds(tookMs)}, ${kills.length} kills, after writes of ${kills.join(", ")}`);
      expect(kills).not.to.deep.equal([]);
      expect(object.status).to.include({ voters: replicas, learners: 0, membersSummary: `${replicas}/${replicas}` });
      expect((await cluster.set()).spec.replicas).to.equal(replicas);
      await until(`${replicas} claims`, async () => (await cluster.claims()).length === replicas, LIMIT_MS);
    });
  }

  it("has lost nothing, has shown nothing old, and has failed no client that retries", async () => {
    await load.untilMoreWrites();
    const toMs = nowMs();
    await load.stop();
    const { acknowledgedWrites, gapMs, failedWithRetries } = load.between(fromMs, toMs);
    report(`${acknowledgedWrites} writes acknowledged, longest gap between writes ${seconds(gapMs)}`);
    expect(load.judge()).to.deep.equal([]);
    expect(failedWithRetries).to.deep.equal([]);
  });
});
