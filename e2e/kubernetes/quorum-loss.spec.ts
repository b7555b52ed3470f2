/**
 * The disks of a majority are lost, and then all disks. The operator reports it and touches nothing, and no member ever
 * founds a new cluster under the old name.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { loseDisks } from "./disks.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { conditionOf, isPodReady, LIMIT_MS } from "./quoin-cluster.ts";
import { OPERATOR_PODS, operatorPods, report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
const MORE_MEMBERS = 5;
const TOLD_MS_MAX = 30_000;

describeWithAll("A cluster that loses its disks", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-quorum-loss");
    await scene.cluster.create({ replicas: MEMBERS });
    await scene.cluster.untilReady();
    await scene.cluster.untilPodsReady(MEMBERS);
  });

  after(() => scene?.clear());

  it("says that its quorum is lost with two of three, and is frozen", async () => {
    const { cluster } = scene;
    const { leader, clusterId } = (await cluster.get()).status;
    const [survivor, ...lost] = (await cluster.pods()).toSorted(
      (a, b) => Number(a.metadata.name === leader) - Number(b.metadata.name === leader),
    );
    const survived = await traceOf(survivor.metadata.name);
    const startedMs = performance.now();
    await loseDisks(cluster, lost);
    const reason = await untilQuorumLost();
    const tookMs = performance.now() - startedMs;
    report(`${lost.map(({ metadata }) => metadata.name).join(" and ")} lost: ${reason} after ${seconds(tookMs)}`);
    expect(reason).to.equal("MajorityDataLost");
    await until("the lost to run again", async () => (await runningPods()).length === MEMBERS, LIMIT_MS);
    await expectFrozen();
    expect(await traceOf(survivor.metadata.name), "the survivor").to.deep.equal(survived);
    expect((await cluster.get()).status.clusterId).to.equal(clusterId);
    expect(tookMs).to.be.below(TOLD_MS_MAX);
  });

  it("is not founded again when all are lost and everything restarts", async () => {
    const { cluster, kubernetes } = scene;
    const { clusterId } = (await cluster.get()).status;
    const identity = await identityOf();
    const operators = (await operatorPods(kubernetes)).map(({ metadata }) => metadata.name);
    await Promise.all(operators.map((name) => kubernetes.send("DELETE", `${OPERATOR_PODS}/${name}`)));
    await loseDisks(cluster, await cluster.pods());
    await until("all pods to run again", async () => (await runningPods()).length === MEMBERS, LIMIT_MS);
    await until("the loss to be noticed", async () => (await untilQuorumLost()) === "AllDataLost", LIMIT_MS);
    await expectFrozen();
    expect(await identityOf()).to.deep.equal(identity);
    const { status } = await cluster.get();
    report(`blocked: ${status.blocked.message}`);
    expect(status.clusterId).to.equal(clusterId);
    expect(conditionOf({ status }, "Available")?.status).to.equal("False");
    const pods = await cluster.pods();
    expect(pods.filter(isPodReady)).to.deep.equal([]);
    expect(pods.filter(({ metadata }) => metadata.labels["quoin.dev/role"] === "leader")).to.deep.equal([]);
  });

  /** Returns the reason. */
  function untilQuorumLost(): Promise<string> {
    return until(
      "the quorum to be lost",
      async () => {
        const lost = conditionOf(await scene.cluster.get(), "QuorumLost");
        return lost?.status === "True" ? (lost.reason as string) : null;
      },
      LIMIT_MS,
    );
  }

  /** Asks for more members, and reverts that: each time the operator observes, and changes nothing. */
  async function expectFrozen(): Promise<void> {
    const before = await objects();
    for (const replicas of [MORE_MEMBERS, MEMBERS]) {
      await scene.cluster.scale(replicas);
      const isSeen = async (): Promise<boolean> => {
        const { metadata, status } = await scene.cluster.get();
        return status.observedGeneration === metadata.generation;
      };
      await until("the operator to look", isSeen, LIMIT_MS);
      expect(await objects(), `after ${replicas} members were asked for`).to.deep.equal(before);
    }
  }

  async function runningPods(): Promise<KubeObject[]> {
    return (await scene.cluster.pods()).filter(({ status }) => status.containerStatuses?.[0]?.state?.running);
  }

  /** The wanted number of pods, and the existing pods and volumes. */
  async function objects(): Promise<unknown> {
    const { cluster } = scene;
    const uidsOf = (items: readonly KubeObject[]): string[] => items.map(({ metadata }) => metadata.uid);
    const [set, pods, claims] = await Promise.all([cluster.set(), cluster.pods(), cluster.claims()]);
    return { replicas: set.spec.replicas, pods: uidsOf(pods), claims: uidsOf(claims) };
  }

  /** Facts of a member: its pod, its number of restarts, and its volume. */
  async function traceOf(name: string): Promise<unknown> {
    const pod = await scene.cluster.pod(name);
    const claim = (await scene.cluster.claims()).find(({ metadata }) => metadata.name === `data-${name}`);
    const { restartCount } = pod.status.containerStatuses[0];
    return { uid: pod.metadata.uid, restartCount, claim: claim?.metadata.uid, volume: claim?.spec.volumeName };
  }

  async function identityOf(): Promise<unknown> {
    const { namespace, name } = scene.cluster;
    const { metadata, data } = await scene.kubernetes.get(
      `/api/v1/namespaces/${namespace}/configmaps/${name}-identity`,
    );
    return { uid: metadata.uid, data };
  }
});
