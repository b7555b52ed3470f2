/** A deleted cluster leaves what its specification retains, and can be created again from that. */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { LIMIT_MS, type QuoinCluster } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { report, Scene, seconds } from "./scene.ts";

const NAMESPACE_MS_MAX = 60_000;
const DURABLE = [
  "configmaps/demo-identity",
  "secrets/demo-ca",
  "secrets/demo-owner",
  "persistentvolumeclaims/data-demo-0",
];

/** In addition to the StatefulSet. */
const OWNED = [
  ...["secrets/demo-tokens", "secrets/demo-server-tls", "configmaps/demo-ca"],
  ...["services/demo", "services/demo-peers", "services/demo-leader", "serviceaccounts/demo"],
];
const ORPHAN = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Orphan" };

describeWithAll("A cluster that is deleted", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-deletion");
  });

  after(() => scene?.clear());

  it("comes back with its data when it is created again, if the specification retains it", async () => {
    const { cluster } = scene;
    await cluster.create({ replicas: 1 });
    const { object: first } = await cluster.untilReady();
    const owner = await secret("demo-owner");
    await quoinctl(cluster, "kv", "put", "default/kept", "as it was");
    await remove(cluster);
    for (const path of DURABLE) {
      expect(await objectAt(path), path).not.to.equal(null);
    }
    await cluster.create({ replicas: 1 });
    const { object: second, tookMs } = await cluster.untilReady();
    report(`Ready again after ${seconds(tookMs)}`);
    expect(second.status.clusterId).to.equal(first.status.clusterId);
    expect(await secret("demo-owner")).to.deep.equal(owner);
    expect(await quoinctl(cluster, "kv", "get", "default/kept")).to.include("as it was");
  });

  it("leaves everything running when it is deleted with --cascade=orphan, and a new one of its name adopts that", async () => {
    const { cluster, kubernetes } = scene;
    const { status } = (await cluster.get()) as KubeObject;
    const pods = await uidsOf();
    await kubernetes.send("DELETE", cluster.path, ORPHAN);
    await until("the cluster to be gone", async () => (await cluster.get()) === null, LIMIT_MS);
    for (const path of OWNED) {
      expect((await objectAt(path))?.metadata.ownerReferences ?? [], path).to.deep.equal([]);
    }
    expect(await uidsOf()).to.deep.equal(pods);
    await cluster.create({ replicas: 1 });
    const { object, tookMs } = await cluster.untilReady();
    report(`Ready ${seconds(tookMs)} after it was made again`);
    expect(object.status.clusterId).to.equal(status.clusterId);
    expect(await uidsOf(), "no pod was restarted").to.deep.equal(pods);
    const isAdopted = async (path: string): Promise<boolean> => {
      const owners: KubeObject[] = (await objectAt(path))?.metadata.ownerReferences ?? [];
      return owners.map(({ uid }) => uid).join() === object.metadata.uid;
    };
    const areAdopted = async (): Promise<boolean> => (await Promise.all(OWNED.map(isAdopted))).every(Boolean);
    await until("everything to belong to the new one", areAdopted, LIMIT_MS);
    expect((await cluster.set())?.metadata.ownerReferences.map(({ uid }: KubeObject) => uid)).to.deep.equal([
      object.metadata.uid,
    ]);
    expect(await quoinctl(cluster, "kv", "get", "default/kept")).to.include("as it was");
  });

  it("leaves nothing if the specification retains nothing", async () => {
    const { cluster } = scene;
    await cluster.patch({ spec: { storage: { whenDeleted: "Delete" } } });
    const isOwned = async (path: string): Promise<boolean> =>
      (await objectAt(path))?.metadata.ownerReferences?.some(
        ({ kind }: { kind: string }) => kind === "CoordinationCluster",
      ) === true;
    await until(
      "everything to belong to the cluster",
      async () => (await Promise.all(DURABLE.map(isOwned))).every(Boolean),
      LIMIT_MS,
    );
    await remove(cluster);
    // The Secret owns the ConfigMap.
    const isGone = async (): Promise<boolean> =>
      (await Promise.all([...DURABLE, "configmaps/demo-owner"].map(objectAt))).every((object) => object === null);
    await until("everything to be gone", isGone, LIMIT_MS);
  });

  it("does not block the deletion of its namespace, not even without an operator", async () => {
    const { cluster, kubernetes } = scene;
    await cluster.create({ replicas: 1 });
    await cluster.untilReady();
    await scene.removeOperator();
    const startedMs = performance.now();
    await kubernetes.removeNamespace(cluster.namespace, LIMIT_MS);
    const tookMs = performance.now() - startedMs;
    report(`namespace gone after ${seconds(tookMs)}`);
    expect(tookMs).to.be.below(NAMESPACE_MS_MAX);
  });

  const objectAt = (path: string) => scene.kubernetes.get(`/api/v1/namespaces/${scene.cluster.namespace}/${path}`);

  async function uidsOf(): Promise<readonly string[]> {
    return (await scene.cluster.pods()).map(({ metadata }) => metadata.uid);
  }

  async function secret(name: string): Promise<unknown> {
    return (await objectAt(`secrets/${name}`)).data;
  }

  async function remove(cluster: QuoinCluster): Promise<void> {
    await scene.kubernetes.send("DELETE", cluster.path);
    const isGone = async (): Promise<boolean> =>
      (await cluster.get()) === null && (await cluster.set()) === null && (await cluster.pods()).length === 0;
    await until("the cluster and its pods to be gone", isGone, LIMIT_MS);
  }
});
