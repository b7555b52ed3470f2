/**
 * Two of three disks are lost, including that of the leader. A person requests the recovery, and clients go on. Then it
 * happens again, but the third disk has less than the archive.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { loseDisks } from "./disks.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { LoadPod } from "./load-pod.ts";
import { conditionOf, LIMIT_MS } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { S3_POD, STORE, startS3 } from "./s3-pod.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
const ANNOTATION = "quoin.dev/recover-quorum";

describeWithAll("A cluster that is recovered from one of three disks", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let former: string;
  /** Their writes are never lost. */
  const kept: LoadPod[] = [];

  before(async () => {
    scene = await Scene.set("quoin-e2e-recovery");
    await startS3(scene.cluster);
    await scene.cluster.create({ replicas: MEMBERS, backup: { storeName: STORE } });
    await scene.cluster.untilReady();
    await scene.cluster.untilPodsReady(MEMBERS);
    former = (await scene.cluster.get()).status.clusterId;
  });

  after(() => scene?.clear());

  it("is not recovered while it serves, and the request is removed", async () => {
    await ask(former);
    await untilReason("QuorumLives");
    const { metadata, status } = await scene.cluster.get();
    expect(metadata.annotations?.[ANNOTATION]).to.equal(undefined);
    expect(conditionOf({ status }, "Available")?.status).to.equal("True");
  });

  it("goes on from the third, with all that was written", async () => {
    const { cluster } = scene;
    const before = await LoadPod.start(cluster, { label: "before" });
    await before.untilMoreWrites(1_000);
    await before.stop();
    await quoinctl(cluster, "kv", "put", "default/before", "the loss");
    await cluster.untilCondition("ArchiveHealthy", "True");
    const { leader } = (await cluster.get()).status;
    const pods = await cluster.pods();
    const survivor = pods.findLast(({ metadata }) => metadata.name !== leader) as KubeObject;
    await loseDisks(
      cluster,
      pods.filter((pod) => pod !== survivor),
    );
    await cluster.untilCondition("QuorumLost", "True");
    await ask(former);
    const startedMs = performance.now();
    await cluster.untilCondition("Available", "True");
    const servedMs = performance.now() - startedMs;
    const { object } = await cluster.untilReady();
    report(
      `${survivor.metadata.name} is the survivor: a leader after ${seconds(servedMs)}, ` +
        `all members again after ${seconds(performance.now() - startedMs)}`,
    );
    report(conditionOf(object, "QuorumRecovery")?.message);
    expect(reasonOf(object)).to.equal("Finished");
    expect(object.status.clusterId).to.not.equal(former);
    expect(object.metadata.annotations?.[ANNOTATION]).to.equal(undefined);
    expect(object.status.voters).to.equal(MEMBERS);
    expect(await cluster.claims()).to.have.lengthOf(MEMBERS);
    await cluster.untilPodsReady(MEMBERS);
    expect(await quoinctl(cluster, "kv", "get", "default/before")).to.contain("the loss");
    const after = await LoadPod.start(cluster, { label: "after" });
    await after.untilMoreWrites(1_000);
    await after.stop();
    expect(after.judge(before)).to.deep.equal([]);
    kept.push(before, after);
  });

  it("has reported each step", async () => {
    const { cluster, kubernetes } = scene;
    const { items } = await kubernetes.get(`/apis/events.k8s.io/v1/namespaces/${cluster.namespace}/events`);
    const reasons = items.map(({ reason }: KubeObject) => reason);
    const expected = ["RecoveryRefused", "RecoveryStarted", "MembersStopped", "SurvivorChosen", "QuorumRecovered"];
    expect(reasons).to.include.members([...expected, "RecoveryFinished"]);
    const chosen = items.find(({ reason }: KubeObject) => reason === "SurvivorChosen");
    report(chosen.note);
    expect(chosen.note, "the survivor is compared with the archive").to.contain("the archive ends at index");
  });

  it("is not recovered from a disk that has less than the archive, unless a person accepts that loss", async function () {
    const { cluster, kubernetes } = scene;
    const { faults } = kubernetes.cluster;
    if (faults === null) {
      this.skip();
    }
    const { clusterId, leader } = (await cluster.get()).status;
    const store = await kubernetes.get(`/api/v1/namespaces/${cluster.namespace}/pods/${S3_POD}`);
    const pods = await cluster.pods();
    const behind = pods.find(
      ({ metadata, spec }) => metadata.name !== leader && spec.nodeName !== store.spec.nodeName,
    ) as KubeObject;
    const { nodeName } = behind.spec;
    try {
      await faults.cutNode(nodeName);
      const lost = await LoadPod.start(cluster, { label: "lost", notOn: nodeName });
      await lost.untilMoreWrites(200);
      await lost.stop();
      const writtenMs = Date.now();
      const isArchived = async (): Promise<boolean> =>
        Date.parse((await cluster.get()).status.backup?.archivedTime ?? "") >= writtenMs - 1_000;
      await until("the last write to be archived", isArchived, LIMIT_MS);
      await loseDisks(
        cluster,
        pods.filter((pod) => pod !== behind),
      );
    } finally {
      await faults.reconnectNode(nodeName);
    }
    await cluster.untilCondition("QuorumLost", "True");
    await ask(clusterId);
    const refused = await untilReason("ArchiveIsFurther");
    report(refused.message);
    expect((await cluster.get()).status.clusterId).to.equal(clusterId);
    await cluster.untilCondition("QuorumLost", "True");
    await ask(/recover-quorum=(\S+)$/.exec(refused.message)?.[1] ?? "");
    await cluster.untilCondition("Available", "True");
    const { object } = await cluster.untilReady();
    expect(reasonOf(object)).to.equal("Finished");
    expect(object.status.clusterId).to.not.equal(clusterId);
    expect(await cluster.claims(), "no volume of a former cluster is left").to.have.lengthOf(MEMBERS);
    await cluster.untilPodsReady(MEMBERS);
    expect(await quoinctl(cluster, "kv", "get", "default/before")).to.contain("the loss");
    const again = await LoadPod.start(cluster, { label: "again" });
    await again.untilMoreWrites(500);
    await again.stop();
    expect(again.judge(...kept), "what the survivor had is there").to.deep.equal([]);
  });

  async function untilReason(reason: string): Promise<KubeObject> {
    const condition = async (): Promise<KubeObject | null> => {
      const object = await scene.cluster.get();
      return reasonOf(object) === reason ? (conditionOf(object, "QuorumRecovery") ?? null) : null;
    };
    return until(`the reason ${reason}`, condition, LIMIT_MS);
  }

  async function ask(id: string): Promise<void> {
    await scene.cluster.patch({ metadata: { annotations: { [ANNOTATION]: id } } });
  }

  function reasonOf(object: KubeObject): string | undefined {
    return conditionOf(object, "QuorumRecovery")?.reason;
  }
});
