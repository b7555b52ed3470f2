/** All disks are lost. The cluster is founded again from its archive, and clients go on. */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { makeDirectoryStore } from "./directory-store.ts";
import { loseDisks } from "./disks.ts";
import { describeWithAll } from "./extent.ts";
import { LoadPod } from "./load-pod.ts";
import { conditionOf, LIMIT_MS } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { STORE, startS3 } from "./s3-pod.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;

/** Each cluster is founded from the store that it writes its backups to. */
const STORES = [
  ["bucket", startS3],
  ["directory", makeDirectoryStore],
] as const;

for (const [kind, makeStore] of STORES) {
  describeWithAll(`A cluster that is restored from its archive in a ${kind}`, function () {
    this.timeout(LIMIT_MS * 3);
    let scene: Scene;
    let former: string;
    /** Content of the cluster before the loss. */
    let load: LoadPod;

    before(async () => {
      scene = await Scene.set(`quoin-e2e-restore-${kind}`);
      const { cluster } = scene;
      await makeStore(cluster);
      await cluster.create({ replicas: MEMBERS, backup: { storeName: STORE } });
      await cluster.untilReady();
      await cluster.untilPodsReady(MEMBERS);
      former = (await cluster.get()).status.clusterId;
    });

    after(() => scene?.clear());

    it("archives every write, and takes a requested backup", async () => {
      const { cluster, kubernetes } = scene;
      load = await LoadPod.start(cluster, { label: "before" });
      await load.untilMoreWrites(2_000);
      const backup = {
        apiVersion: "quoin.dev/v1alpha1",
        kind: "CoordinationBackup",
        metadata: { name: "midway" },
        spec: { clusterName: cluster.name },
      };
      await kubernetes.apply(cluster.namespace, backup);
      const path = cluster.path.replace(`coordinationclusters/${cluster.name}`, "coordinationbackups/midway");
      const { status } = await until(
        "the backup",
        async () => {
          const found = await kubernetes.get(path);
          return ["Succeeded", "Failed"].includes(found?.status?.phase) ? found : null;
        },
        LIMIT_MS,
      );
      expect(status.phase, status.error).to.equal("Succeeded");
      await load.stop();
      await quoinctl(cluster, "kv", "put", "default/last", "written");
      const writtenMs = Date.now();
      await cluster.untilCondition("ArchiveHealthy", "True");
      await until(
        "the last write to be archived",
        async () => Date.parse((await cluster.get()).status.backup?.archivedTime ?? "") >= writtenMs - 1_000,
        LIMIT_MS,
      );
      report(`the last write is archived after ${seconds(Date.now() - writtenMs)}`);
    });

    it("loses all its disks, and comes back with the archived content", async () => {
      const { cluster, kubernetes } = scene;
      await loseDisks(cluster, await cluster.pods());
      const { object: lost } = await cluster.untilCondition("QuorumLost", "True");
      expect(conditionOf(lost, "QuorumLost")?.reason).to.be.oneOf(["AllDataLost", "MajorityDataLost"]);
      expect(lost.status.backup.archivedRevision, "what can be restored is shown").to.be.greaterThan(0);
      const startedMs = performance.now();
      // As described in docs/operations/backups-on-kubernetes.md.
      const remove = ["delete", "--namespace", cluster.namespace];
      await kubernetes.cluster.kubectl([...remove, "coordinationcluster", cluster.name]);
      await kubernetes.cluster.kubectl([...remove, "pvc", "--selector", `quoin.dev/cluster=${cluster.name}`]);
      await kubernetes.cluster.kubectl([...remove, "configmap", `${cluster.name}-identity`]);
      const restoreFrom = { storeName: STORE };
      await cluster.create({ replicas: MEMBERS, backup: { storeName: STORE }, restoreFrom });
      await cluster.untilCondition("Available", "True");
      const servedMs = performance.now() - startedMs;
      const { object } = await cluster.untilReady();
      const restored = conditionOf(object, "Restored");
      report(
        `a leader after ${seconds(servedMs)}, all members after ${seconds(performance.now() - startedMs)}: ` +
          `${restored?.message}`,
      );
      expect([restored?.status, restored?.reason]).to.deep.equal(["True", "Restored"]);
      expect(restored?.message).to.contain(former).and.to.contain("up to revision");
      expect(object.status.clusterId).to.not.equal(former);
      await cluster.untilPodsReady(MEMBERS);
      expect(await quoinctl(cluster, "kv", "get", "default/last")).to.contain("written");
      const after = await LoadPod.start(cluster, { label: "after" });
      await after.untilMoreWrites(1_000);
      await after.stop();
      expect(after.judge(load)).to.deep.equal([]);
      await cluster.untilCondition("ArchiveHealthy", "True");
    });

    it("founds nothing from a store that has no such backup, and says why", async () => {
      const other = scene.cluster.beside("other");
      await other.create({
        replicas: 1,
        restoreFrom: { storeName: STORE, clusterId: former, toRevision: 9_000_000_000 },
      });
      const object = await until(
        "the reason",
        async () => {
          const found = await other.get();
          return conditionOf(found, "Restored")?.reason === "RestoreFails" ? found : null;
        },
        LIMIT_MS,
      );
      report(conditionOf(object, "Restored")?.message);
      expect(conditionOf(object, "Available")?.status).to.equal("False");
      expect(object.status.voters).to.equal(0);
    });
  });
}
