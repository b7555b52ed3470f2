/** Volumes grow while clients read and write, both existing and later ones, and no pod is affected. */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import { conditionOf, LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

const SIZE = "8Gi";
const LARGER_SIZE = "12Gi";
const STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses";
const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";
const STIFF_CLASS = "quoin-e2e-stiff";

describeWithAll("A cluster whose volumes are to be larger", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;
  let storageClass: KubeObject;

  before(async () => {
    scene = await Scene.set("quoin-e2e-volumes");
    const { items } = await scene.kubernetes.get(STORAGE_CLASSES);
    storageClass = items.find(({ metadata }: KubeObject) => metadata.annotations?.[IS_DEFAULT] === "true");
    expect(storageClass, "a default storage class").to.be.an("object");
  });

  after(() => scene?.clear());

  it("has them, its pods stay, and clients notice nothing", async function () {
    if (storageClass.allowVolumeExpansion !== true) {
      this.skip();
    }
    const { cluster } = scene;
    await cluster.create({ replicas: 1, storage: { size: SIZE } });
    await cluster.untilReady();
    const { load } = await scene.startLoad();
    const before = await runs();
    const fromMs = nowMs();
    await cluster.patch({ spec: { storage: { size: LARGER_SIZE } } });
    await untilCapacities([LARGER_SIZE]);
    const { object } = await cluster.untilReady();
    report(`grown after ${seconds(nowMs() - fromMs)}`);
    expect(conditionOf(object, "VolumesReady").status).to.equal("True");
    await load.untilMoreWrites();
    expect(await runs()).to.deep.equal(before);
    expect(await events()).to.include("VolumeExpanded");
    await load.stop();
    expect(load.judge()).to.deep.equal([]);
    expect(load.between(fromMs, nowMs()).failedWithRetries).to.deep.equal([]);
  });

  it("gives them to members that come later, too", async function () {
    if (storageClass.allowVolumeExpansion !== true) {
      this.skip();
    }
    const { cluster } = scene;
    const [first] = await runs();
    await cluster.scale(3);
    await cluster.untilReady();
    await untilCapacities([LARGER_SIZE, LARGER_SIZE, LARGER_SIZE]);
    expect((await runs())[0]).to.deep.equal(first);
    // The operator never recreates a set for this, and a set's claim template is immutable.
    expect((await cluster.set()).spec.volumeClaimTemplates[0].spec.resources.requests.storage).to.equal(SIZE);
  });

  it("reports it if the storage class does not let them grow, and goes on", async () => {
    const { cluster, kubernetes } = scene;
    const { provisioner, parameters, volumeBindingMode } = storageClass;
    await kubernetes.send("POST", STORAGE_CLASSES, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: STIFF_CLASS },
      provisioner,
      parameters,
      volumeBindingMode,
      allowVolumeExpansion: false,
    });
    try {
      const stiff = cluster.beside("stiff");
      await stiff.create({ replicas: 1, storage: { size: SIZE, storageClassName: STIFF_CLASS } });
      await stiff.untilReady();
      await stiff.patch({ spec: { storage: { size: LARGER_SIZE } } });
      const condition = await until(
        "the condition of the volumes",
        async () => {
          const condition = conditionOf(await stiff.get(), "VolumesReady");
          return condition?.status === "False" ? condition : null;
        },
        LIMIT_MS,
      );
      report(`${condition.reason}: ${condition.message}`);
      expect(condition.reason).to.equal("StorageClassForbidsExpansion");
      expect(conditionOf(await stiff.get(), "Available").status).to.equal("True");
    } finally {
      await kubernetes.send("DELETE", `${STORAGE_CLASSES}/${STIFF_CLASS}`);
    }
  });

  /** Values that would change if a pod were recreated or its container restarted. */
  async function runs(): Promise<readonly object[]> {
    return (await scene.cluster.pods()).map(({ metadata, status }) => ({
      uid: metadata.uid,
      startedAt: status.containerStatuses[0].state.running?.startedAt,
      restarts: status.containerStatuses[0].restartCount,
    }));
  }

  async function untilCapacities(wanted: readonly string[]): Promise<void> {
    const haveGrown = async (): Promise<boolean> => {
      const capacities = (await scene.cluster.claims()).map(({ status }) => status.capacity?.storage);
      return capacities.join() === wanted.join();
    };
    await until(`volumes of ${wanted.join(", ")}`, haveGrown, LIMIT_MS);
  }

  /** Reasons of the events about the cluster. */
  async function events(): Promise<readonly string[]> {
    const { kubernetes, namespace } = scene.cluster;
    const { items } = await kubernetes.get(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
    return items
      .filter(({ regarding }: KubeObject) => regarding.kind === "CoordinationCluster")
      .map(({ reason }: KubeObject) => reason);
  }
});
