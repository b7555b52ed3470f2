/** The specified size changes every few seconds, under load: the cluster ends up with the last specification. */

import { join } from "node:path";
import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { Restarts } from "./restarts.ts";
import { CHARTS, OPERATOR_NAMESPACE, report, Scene, seconds } from "./scene.ts";

const TURNS = 20;
/** Less than a member needs to join: each change meets another intermediate state. */
const TURN_MS = 3_000;
const [SMALL, LARGE] = [1, 3] as const;
const SETTLED_MS_MAX = 120_000;
/** An operator with its own Lease does not know of the other one, and works at the same time. */
const SECOND = "quoin-second";
const HELM_SECONDS = 100;

describeWithAll("A cluster whose size is reversed over and over", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  let restarts: Restarts;
  let fromMs = 0;

  before(async () => {
    scene = await Scene.set("quoin-e2e-reversal");
    await scene.cluster.create({ replicas: SMALL });
    await scene.cluster.untilReady();
    ({ load } = await scene.startLoad());
    restarts = new Restarts(scene.cluster);
    fromMs = nowMs();
  });

  after(async () => {
    await restarts?.close();
    await scene?.kubernetes.cluster.helm([
      ...["uninstall", SECOND, "--namespace", OPERATOR_NAMESPACE, "--ignore-not-found", "--wait"],
    ]);
    await scene?.clear();
  });

  it("settles with one operator", reverse);

  it("settles with two operators that know nothing of each other", async () => {
    await scene.kubernetes.cluster.helm([
      ...["install", SECOND, join(CHARTS, "quoin-operator"), "--namespace", OPERATOR_NAMESPACE, "--wait"],
      ...["--timeout", `${HELM_SECONDS}s`, "--set", "crds.install=false", "--set", `fullnameOverride=${SECOND}`],
    ]);
    await until("both operators to work", async () => (await holders()).every(Boolean), LIMIT_MS);
    await reverse();
    expect(await holders()).to.satisfy((names: string[]) => names.every(Boolean) && new Set(names).size === 2);
  });

  it("has lost nothing and has shown nothing old", async () => {
    await load.stop();
    const { acknowledgedWrites, gapMs, failedWithRetries, failedWithout } = load.between(fromMs, nowMs());
    report(
      `${acknowledgedWrites} writes acknowledged, longest gap between them ${seconds(gapMs)}, ` +
        `failed ${failedWithRetries.length} with and ${failedWithout} without retries`,
    );
    expect(load.judge()).to.deep.equal([]);
  });

  async function reverse(): Promise<void> {
    const { cluster } = scene;
    const before = restarts.all.length;
    for (let turn = 1; turn <= TURNS; turn++) {
      const dueMs = nowMs() + TURN_MS;
      await cluster.scale(turn % 2 === 1 ? LARGE : SMALL);
      await until("the next turn", () => nowMs() >= dueMs, LIMIT_MS);
    }
    const { object, tookMs } = await cluster.untilReady();
    const cameAndWent = restarts.all.length - before;
    report(`settled after ${seconds(tookMs)}, ${cameAndWent} pods had come and gone`);
    expect(cameAndWent, "pods that a turn took away again").to.be.at.least(1);
    expect(object.status).to.include({ voters: SMALL, learners: 0, membersSummary: `${SMALL}/${SMALL}` });
    expect(object.status.members).to.have.length(SMALL);
    expect((await cluster.set()).spec.replicas).to.equal(SMALL);
    await until("claims of members that have left to be gone", onlyTheirClaims, LIMIT_MS);
    expect(tookMs).to.be.below(SETTLED_MS_MAX);
    await load.untilMoreWrites();
  }

  async function onlyTheirClaims(): Promise<boolean> {
    const claims = (await scene.cluster.claims()).map(({ metadata }: KubeObject) => metadata.name);
    return claims.length === SMALL && claims[0] === "data-demo-0";
  }

  /** Holders of the Leases of both operators; empty while an operator holds none. */
  async function holders(): Promise<string[]> {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases`;
    return await Promise.all(
      ["quoin-operator", SECOND].map(
        async (name) => (await scene.kubernetes.get(`${leases}/${name}`))?.spec.holderIdentity ?? "",
      ),
    );
  }
});
