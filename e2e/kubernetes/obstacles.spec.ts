/**
 * Pods that Kubernetes does not create: one that a LimitRange forbids, and one that exceeds a ResourceQuota. The status
 * shows the API server's message for as long as it is true.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { conditionOf, LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

describeWithAll("A cluster whose pods Kubernetes does not create", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-obstacles");
    await scene.cluster.create({ replicas: 1 });
    await scene.cluster.untilReady();
  });

  after(() => scene?.clear());

  it("names the LimitRange that forbids the pods of new members, and grows when it is gone", async () => {
    const { cluster } = scene;
    const limits = [{ type: "Container", min: { memory: "8Gi" } }];
    await apply("LimitRange", { limits });
    await cluster.scale(3);
    const status = await untilBlocked("PodNotCreated");
    expect(status.blocked.message).to.contain("minimum memory usage per Container is 8Gi");
    expect(status.blocked).to.include({ gate: "AwaitLearner", target: `${cluster.name}-1` });
    expect(conditionOf({ status }, "Ready")).to.include({ reason: "PodNotCreated", message: status.blocked.message });
    await remove("limitranges");
    await untilFree();
  });

  it("names the ResourceQuota that the pod of a voter exceeds, and gets it back once the quota is gone", async () => {
    const { cluster, kubernetes } = scene;
    await apply("ResourceQuota", { hard: { pods: "2" } });
    await until("the quota to count", async () => (await used()) === "3", LIMIT_MS);
    await kubernetes.send("DELETE", `/api/v1/namespaces/${cluster.namespace}/pods/${cluster.name}-1`);
    const status = await untilBlocked("PodNotCreated");
    expect(status.blocked.message).to.contain("exceeded quota: obstacle");
    expect(status.blocked).to.include({ gate: "AwaitPod", target: `${cluster.name}-1` });
    await remove("resourcequotas");
    await untilFree();
  });

  async function apply(kind: string, spec: object): Promise<void> {
    const metadata = { name: "obstacle" };
    await scene.kubernetes.apply(scene.cluster.namespace, { apiVersion: "v1", kind, metadata, spec });
  }

  async function remove(plural: string): Promise<void> {
    await scene.kubernetes.send("DELETE", `/api/v1/namespaces/${scene.cluster.namespace}/${plural}/obstacle`);
  }

  /** Pods, as the quota counts them. */
  async function used(): Promise<string | undefined> {
    const path = `/api/v1/namespaces/${scene.cluster.namespace}/resourcequotas/obstacle`;
    return (await scene.kubernetes.get(path))?.status?.used?.pods;
  }

  /** Resolves to the status. */
  async function untilBlocked(reason: string): Promise<KubeObject> {
    const startedMs = performance.now();
    const status = await until(
      `${reason} in status.blocked`,
      async () => {
        const { status } = (await scene.cluster.get()) ?? {};
        return status?.blocked?.reason === reason ? status : null;
      },
      LIMIT_MS,
    );
    report(`after ${seconds(performance.now() - startedMs)}: ${status.blocked.message}`);
    return status;
  }

  async function untilFree(): Promise<void> {
    const { object, tookMs } = await scene.cluster.untilReady();
    report(`Ready ${seconds(tookMs)} after the cause was gone`);
    expect(object.status).to.include({ membersSummary: "3/3" }).and.not.to.have.property("blocked");
  }
});
