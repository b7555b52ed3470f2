/**
 * Actions that an operator cannot do, or must do although the specification is impossible: an eviction that two budgets
 * prevent, a specification that Kubernetes refuses, and an owner whose Secret is lost.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { conditionOf, LIMIT_MS } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { report, Scene, seconds } from "./scene.ts";

/** Kubernetes collects the objects that the Secret owned, and a watch reports it; that takes about a second. */
const NOTICED_MS_MAX = 20_000;

describe("A cluster that needs repair", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-repair");
    await scene.cluster.create({ replicas: 1 });
    await scene.cluster.untilReady();
  });

  after(() => scene?.clear());

  it("says which eviction the API server refuses, in its words, until the change is taken back", async () => {
    const { cluster, kubernetes } = scene;
    const selector = { matchLabels: { "quoin.dev/cluster": cluster.name } };
    for (const name of ["second", "third"]) {
      const spec = { maxUnavailable: 0, selector };
      await kubernetes.apply(cluster.namespace, {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name },
        spec,
      });
    }
    await cluster.patch({ spec: { podTemplate: { metadata: { annotations: { changed: "1" } } } } });
    const status = await untilCondition("ReconcileSucceeded", "False");
    const { message } = conditionOf({ status }, "ReconcileSucceeded") ?? {};
    report(message);
    expect(message).to.contain("more than one PodDisruptionBudget");
    expect(status.blocked).to.include({ gate: "Roll", reason: "StepFailed", message });
    await cluster.patch({ spec: { podTemplate: null } });
    await untilCondition("ReconcileSucceeded", "True");
    await cluster.untilReady();
    for (const name of ["second", "third"]) {
      await kubernetes.send("DELETE", `/apis/policy/v1/namespaces/${cluster.namespace}/poddisruptionbudgets/${name}`);
    }
  });

  it("gets its Services back while its specification is refused", async () => {
    const { cluster, kubernetes } = scene;
    await cluster.patch({ spec: { podTemplate: { spec: { nodeSelectr: { disk: "fast" } } } } });
    const status = await untilCondition("SpecAccepted", "False");
    const { message } = conditionOf({ status }, "SpecAccepted") ?? {};
    report(message);
    // The API server repeats the whole set before that.
    expect(message).to.contain('unknown field "spec.template.spec.nodeSelectr"').and.not.contain("{");
    const service = `/api/v1/namespaces/${cluster.namespace}/services/${cluster.name}`;
    const { uid } = (await kubernetes.get(service)).metadata;
    await kubernetes.send("DELETE", service);
    const isNew = async (): Promise<boolean> =>
      ![undefined, uid].includes((await kubernetes.get(service))?.metadata.uid);
    await until("the Service to be made again", isNew, LIMIT_MS);
    await cluster.patch({ spec: { podTemplate: null } });
    await cluster.untilReady();
  });

  it("gets its owner back by a Secret that the specification names", async () => {
    const { cluster, kubernetes } = scene;
    await kubernetes.send("DELETE", `/api/v1/namespaces/${cluster.namespace}/secrets/${cluster.name}-owner`);
    const deletedMs = performance.now();
    await untilCondition("OwnerSecretReady", "False");
    const noticedMs = performance.now() - deletedMs;
    report(`the loss was noticed after ${seconds(noticedMs)}`);
    expect(noticedMs).to.be.below(NOTICED_MS_MAX);
    await kubernetes.apply(cluster.namespace, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "new-owner" },
      stringData: { password: "a password of the tests" },
    });
    await cluster.patch({ spec: { access: { ownerSecretRef: { name: "new-owner" } } } });
    await untilCondition("OwnerSecretReady", "True");
    expect(JSON.parse(await quoinctl(cluster, "user", "list", "-o", "json")).users).to.have.length(1);
  });

  /** Resolves to the status. */
  async function untilCondition(type: string, wanted: string): Promise<KubeObject> {
    return await until(
      `${type} to be ${wanted}`,
      async () => {
        const object = await scene.cluster.get();
        return conditionOf(object, type)?.status === wanted ? object?.status : null;
      },
      LIMIT_MS,
    );
  }
});
