/** Members are added and removed while clients read and write: nothing is lost, and no client that retries notices. */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { IS_ALL } from "./extent.ts";
import type { LeaderEndpoints } from "./leader-endpoints.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

/** The others are those of operator-loss.spec.ts. */
const STEPS = IS_ALL ? ([3, 5, 3, 1] as const) : ([5, 3] as const);
const STEP_MS_MAX = 90_000;

interface Step {
  readonly replicas: number;
  readonly fromMs: number;
  readonly toMs: number;
}

describe("A cluster that grows and shrinks under load", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  let endpoints: LeaderEndpoints;
  const steps: Step[] = [];

  before(async () => {
    scene = await Scene.set("quoin-e2e-scaling");
    await scene.cluster.create({ replicas: 1 });
    await scene.cluster.untilReady();
    ({ load, endpoints } = await scene.startLoad());
  });

  after(() => scene?.clear());

  for (const replicas of STEPS) {
    it(`has ${replicas} members when it is asked for ${replicas}`, async () => {
      const { cluster } = scene;
      const fromMs = nowMs();
      await cluster.scale(replicas);
      const { object, tookMs } = await cluster.untilReady();
      steps.push({ replicas, fromMs, toMs: nowMs() });
      expect(object.status).to.include({ voters: replicas, learners: 0, membersSummary: `${replicas}/${replicas}` });
      expect((await cluster.set()).spec.replicas).to.equal(replicas);
      expect(tookMs).to.be.below(STEP_MS_MAX);
      await load.untilMoreWrites();
      await untilClaims(replicas);
    });
  }

  it("has lost nothing, has shown nothing old, and has failed no client that retries", async () => {
    await load.stop();
    const toMs = nowMs();
    for (const { replicas, ...step } of steps) {
      const { gapMs, acknowledgedWrites } = load.between(step.fromMs, step.toMs);
      report(
        `to ${replicas}: ${seconds(step.toMs - step.fromMs)}, longest gap between writes ${seconds(gapMs)}, ` +
          `${acknowledgedWrites} writes`,
      );
    }
    const { acknowledgedWrites, failedWithRetries, failedWithout } = load.between(0, toMs);
    report(
      `${acknowledgedWrites} writes acknowledged, ${load.holds} holds of the lock, without retries failed ${failedWithout}`,
    );
    const [first] = steps;
    report(
      `leader Service: to several ${seconds(endpoints.severalMs(first?.fromMs ?? 0, toMs))}, ` +
        `to no pod ${seconds(endpoints.withoutPodsMs(first?.fromMs ?? 0, toMs))}`,
    );
    expect(load.judge()).to.deep.equal([]);
    expect(failedWithRetries).to.deep.equal([]);
  });

  /** Claims of removed members are deleted with them. */
  async function untilClaims(count: number): Promise<void> {
    await until(`${count} claims`, async () => (await scene.cluster.claims()).length === count, LIMIT_MS);
  }
});
