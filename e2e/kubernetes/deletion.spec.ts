/** A cluster that is deleted leaves what it is asked to leave, and comes back from that. */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { LIMIT_MS, type QuoinCluster } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { Scene, seconds, tell } from "./scene.ts";

const NAMESPACE_MS_MAX = 60_000;
const DURABLE = [
  "configmaps/demo-identity",
  "secrets/demo-ca",
  "secrets/demo-owner",
  "persistentvolumeclaims/data-demo-0",
];

describe("A cluster that is deleted", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-deletion");
  });

  after(() => scene?.clear());

  it("comes back with its data when it is made again, if it is to be retained", async () => {
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
    tell(`Ready again after ${seconds(tookMs)}`);
    expect(second.status.clusterId).to.equal(first.status.clusterId);
    expect(await secret("demo-owner")).to.deep.equal(owner);
    expect(await quoinctl(cluster, "kv", "get", "default/kept")).to.include("as it was");
  });

  it("leaves nothing if that is to be deleted", async () => {
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
    const isGone = async (): Promise<boolean> =>
      (await Promise.all(DURABLE.map(objectAt))).every((object) => object === null);
    await until("everything to be gone", isGone, LIMIT_MS);
  });

  it("does not hold up the end of its namespace, not even without an operator", async () => {
    const { cluster, kubernetes } = scene;
    await cluster.create({ replicas: 1 });
    await cluster.untilReady();
    await scene.removeOperator();
    const startedMs = performance.now();
    await kubernetes.removeNamespace(cluster.namespace, LIMIT_MS);
    const tookMs = performance.now() - startedMs;
    tell(`namespace gone after ${seconds(tookMs)}`);
    expect(tookMs).to.be.below(NAMESPACE_MS_MAX);
  });

  const objectAt = (path: string) => scene.kubernetes.get(`/api/v1/namespaces/${scene.cluster.namespace}/${path}`);

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
