/**
 * The specification names an image that does not exist: the roll stops at the first pod, and ends when the image is
 * corrected.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { PodReadiness } from "./pod-readiness.ts";
import { conditionOf, isPodReady, LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
const BACK_MS_MAX = 90_000;
const NO_SUCH_TAG = "no-such-image";

describeWithAll("A cluster whose specification names an image that does not exist", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.set("quoin-e2e-bad-image");
  });

  afterEach(() => scene?.clear());

  it("goes on without one follower, and gets it back with the former image", async () => {
    const { cluster } = scene;
    await cluster.create({ replicas: MEMBERS });
    await cluster.untilReady();
    const { load } = await scene.startLoad();
    const readiness = new PodReadiness(cluster, MEMBERS);
    const before = await uids();
    const { leader, term } = (await cluster.get()).status;
    const fromMs = nowMs();
    await cluster.patch({ spec: { image: { tag: NO_SUCH_TAG } } });
    const { blocked, broken } = await until("the next pod to be held back", held, LIMIT_MS);
    report(`${broken} has no image; ${blocked.target} is held back: ${blocked.reason}, ${blocked.message}`);
    expect(broken, "not the leader").not.to.equal(leader);
    const heldMs = nowMs();
    const tookMs = await revert();
    const toMs = nowMs();
    const mostUnready = await readiness.close();
    await load.stop();
    const { failedWithRetries, failedWithout } = load.between(fromMs, toMs);
    report(
      `Ready ${seconds(tookMs)} after the revert, unready at once ${mostUnready}, longest gap between writes ` +
        `${seconds(load.between(fromMs, heldMs).gapMs)} before it and ${seconds(load.between(heldMs, toMs).gapMs)} after, ` +
        `without retries failed ${failedWithout}`,
    );
    const { status } = await cluster.get();
    report(`led by ${leader} in term ${term} before, by ${status.leader} in term ${status.term} after`);
    expect(load.judge()).to.deep.equal([]);
    expect(failedWithRetries).to.deep.equal([]);
    expect(mostUnready).to.equal(1);
    const after = await uids();
    const replaced = [...before].filter(([name, uid]) => after.get(name) !== uid).map(([name]) => name);
    expect(replaced, "pods that are others now").to.deep.equal([broken]);
    expect(tookMs).to.be.below(BACK_MS_MAX);
  });

  it("comes back with its data if it had one member alone", async () => {
    const { cluster } = scene;
    await cluster.create({ replicas: 1 });
    await cluster.untilReady();
    const { load } = await scene.startLoad();
    await cluster.patch({ spec: { image: { tag: NO_SUCH_TAG } } });
    await untilWithoutImage(1);
    await expectRecovery(load);
  });

  it("comes back without a leader to help", async () => {
    const { cluster, kubernetes } = scene;
    await cluster.create({ replicas: MEMBERS });
    await cluster.untilReady();
    const { load } = await scene.startLoad();
    const { updateRevision } = (await cluster.set()).status;
    await cluster.patch({ spec: { image: { tag: NO_SUCH_TAG } } });
    const isTaken = async (): Promise<boolean> => (await cluster.set()).status.updateRevision !== updateRevision;
    await until("the set to have the new template", isTaken, LIMIT_MS);
    const pods = `/api/v1/namespaces/${cluster.namespace}/pods`;
    await kubernetes.send("DELETE", `${pods}?labelSelector=quoin.dev/cluster=${cluster.name}`);
    await untilWithoutImage(MEMBERS);
    const isLeaderless = async (): Promise<boolean> =>
      conditionOf(await cluster.get(), "Available")?.status === "False";
    await until("the cluster to say that it has no leader", isLeaderless, LIMIT_MS);
    await expectRecovery(load);
  });

  async function expectRecovery(load: LoadPod): Promise<void> {
    const tookMs = await revert();
    await load.untilMoreWrites();
    await load.stop();
    report(`Ready ${seconds(tookMs)} after the revert`);
    expect(load.judge()).to.deep.equal([]);
    expect(tookMs).to.be.below(BACK_MS_MAX);
  }

  /** The pod without an image, and the operator's hold for the next pod; null before that. */
  async function held(): Promise<{ readonly blocked: KubeObject; readonly broken: string } | null> {
    const [{ status }, [pod, ...more]] = await Promise.all([scene.cluster.get(), podsWithoutImage()]);
    expect(more, "more pods without an image").to.deep.equal([]);
    const broken: string | undefined = pod?.metadata.name;
    const isHeld = status.blocked?.gate === "Roll" && status.blocked.target !== broken;
    return broken !== undefined && isHeld ? { blocked: status.blocked, broken } : null;
  }

  /** Restores the former image, and waits until it is in force. Returns how long that took, in milliseconds. */
  async function revert(): Promise<number> {
    const { cluster } = scene;
    await cluster.patch({ spec: { image: { tag: null } } });
    return (await cluster.untilReady()).tookMs;
  }

  async function untilWithoutImage(count: number): Promise<void> {
    await until(`${count} pods without an image`, async () => (await podsWithoutImage()).length === count, LIMIT_MS);
  }

  /** Pods whose image the kubelet cannot pull. */
  async function podsWithoutImage(): Promise<KubeObject[]> {
    return (await scene.cluster.pods()).filter((pod) => {
      const reason: string = pod.status.containerStatuses?.[0]?.state?.waiting?.reason ?? "";
      return !isPodReady(pod) && (reason === "ErrImagePull" || reason === "ImagePullBackOff");
    });
  }

  async function uids(): Promise<Map<string, string>> {
    return new Map((await scene.cluster.pods()).map(({ metadata }) => [metadata.name, metadata.uid]));
  }
});
