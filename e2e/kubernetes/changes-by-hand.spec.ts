/**
 * The operator undoes changes of others in the objects of a cluster, and restarts no member for them; `kubectl rollout
 * restart` does restart members.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { Scene } from "./scene.ts";

describeWithAll("A cluster whose objects are changed by hand", function () {
  this.timeout(LIMIT_MS);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-by-hand");
    await scene.cluster.create({ replicas: 1, networkPolicy: { enabled: true } });
    await scene.cluster.untilReady();
  });

  after(() => scene?.clear());

  function pathOf(group: string, plural: string): string {
    return `${group}/namespaces/${scene.cluster.namespace}/${plural}/demo`;
  }

  async function generations(): Promise<unknown[]> {
    return (await scene.cluster.pods()).map(({ metadata }) => metadata.uid);
  }

  it("has all of them back, its member still there, and an event that says so", async () => {
    const { kubernetes, cluster } = scene;
    const uids = await generations();
    const changes: readonly (readonly [path: string, part: (object: KubeObject) => unknown, patch: object])[] = [
      [pathOf("/api/v1", "services"), ({ spec }) => spec.selector, { spec: { selector: { app: "other" } } }],
      [
        pathOf("/apis/rbac.authorization.k8s.io/v1", "roles"),
        ({ rules }) => rules,
        { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["*"] }] },
      ],
      [
        pathOf("/apis/networking.k8s.io/v1", "networkpolicies"),
        ({ spec }) => spec,
        { spec: { ingress: [{}], egress: [{}], policyTypes: ["Ingress", "Egress"] } },
      ],
      [
        pathOf("/apis/apps/v1", "statefulsets"),
        ({ spec }) => spec,
        { spec: { minReadySeconds: 7, template: { spec: { nodeSelector: { disk: "none" } } } } },
      ],
    ];
    for (const [path, part, patch] of changes) {
      const before = part(await kubernetes.get(path));
      await kubernetes.send("PATCH", path, patch);
      const isBack = async (): Promise<boolean> =>
        JSON.stringify(part(await kubernetes.get(path))) === JSON.stringify(before);
      await until(`${path} to be put back`, isBack, LIMIT_MS);
    }
    await cluster.untilReady();
    expect(await generations()).to.deep.equal(uids);
    const { items } = await kubernetes.get(`/apis/events.k8s.io/v1/namespaces/${cluster.namespace}/events`);
    expect(items.map(({ reason }: KubeObject) => reason)).to.include("ChangeUndone");
  });

  it("is left alone without changes, and restarts for kubectl rollout restart", async () => {
    const { kubernetes, cluster } = scene;
    const uids = await generations();
    const set = await cluster.set();
    await kubernetes.cluster.kubectl(["--namespace", cluster.namespace, "rollout", "restart", "statefulset/demo"]);
    const isReplaced = async (): Promise<boolean> => {
      const [uid] = await generations();
      return uid !== undefined && uid !== uids[0];
    };
    await until("another pod", isReplaced, LIMIT_MS);
    await cluster.untilReady();
    const after = await cluster.set();
    // One generation for the annotation that kubectl has written; the operator's notes in the metadata do not change
    // the generation.
    expect(after?.metadata.generation).to.equal(set?.metadata.generation + 1);
  });
});
