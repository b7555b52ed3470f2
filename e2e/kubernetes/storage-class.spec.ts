/**
 * A storage class with a typo can be corrected while the cluster waits for it; once a volume is bound, it cannot
 * change.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import { type KubeObject, Refusal } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

const TYPO = "quoin-e2e-no-such-class";

describeWithAll("A storage class with a typo", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;
  let uids: readonly string[];

  before(async () => {
    scene = await Scene.set("quoin-e2e-storage-class");
  });

  after(() => scene?.clear());

  it("keeps the cluster waiting for its volume", async () => {
    const { cluster } = scene;
    await cluster.create({ replicas: 1, storage: { storageClassName: TYPO } });
    const status = await until(
      "the cluster to wait",
      async () => {
        const { status } = (await cluster.get()) ?? {};
        return status?.volumesBound === false && status.blocked?.gate === "Found" ? status : null;
      },
      LIMIT_MS,
    );
    report(`${status.blocked.reason}: ${status.blocked.message}`);
    const [claim] = await cluster.claims();
    expect(claim?.status.phase).to.equal("Pending");
    uids = await uidsOf();
  });

  it("is corrected in place, and the cluster begins", async () => {
    const { cluster } = scene;
    const fromMs = nowMs();
    await cluster.patch({ spec: { storage: { storageClassName: null } } });
    const { object } = await cluster.untilReady();
    report(`Ready ${seconds(nowMs() - fromMs)} after the correction`);
    const [claim] = await cluster.claims();
    expect(claim?.status.phase).to.equal("Bound");
    expect(claim?.spec.storageClassName).to.not.equal(TYPO);
    expect(object.status).to.include({ volumesBound: true, storageClassName: claim?.spec.storageClassName });
    const now = await uidsOf();
    expect(now.filter((uid) => uids.includes(uid))).to.deep.equal([]);
    uids = now;
  });

  it("cannot be changed back once the volume is bound, and nothing is created again", async () => {
    const { cluster } = scene;
    const error = await cluster.patch({ spec: { storage: { storageClassName: TYPO } } }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(Refusal);
    expect((error as Refusal).answer.message).to.include("spec.storage.storageClassName cannot be changed");
    // A change to the class that the volumes have changes nothing.
    const { status } = (await cluster.get()) as KubeObject;
    await cluster.patch({ spec: { storage: { storageClassName: status.storageClassName } } });
    await cluster.untilReady();
    expect(await uidsOf()).to.deep.equal(uids);
  });

  async function uidsOf(): Promise<readonly string[]> {
    const { cluster } = scene;
    return [await cluster.set(), ...(await cluster.claims())].map((object) => object?.metadata.uid);
  }
});
