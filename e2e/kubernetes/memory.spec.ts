/**
 * A memory limit that is too small under load affects one member: the roll stops there, shows the reason, and can be
 * reverted.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import { isPodReady, LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene, seconds } from "./scene.ts";

/** Long enough for this test to fill the memory of the member that is restarted first. */
const SOAK_SECONDS = 30;
/** Many times the pause between two members of a roll. */
const HELD_MS = SOAK_SECONDS * 2_000;
const [SMALL, ENOUGH] = ["1Gi", "2Gi"];
/**
 * Uses more memory than the limit, in processes of 32 MiB each, so that the kernel kills the largest process, the
 * member. Each `tail` keeps its input in memory, because the zeros contain no line end.
 */
const FILL = "for part in $(seq 40); do { head -c 33554432 /dev/zero; sleep 60; } | tail > /dev/null & done; wait";

describeWithAll("A memory limit that is too small under load", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;

  before(async () => {
    scene = await Scene.set("quoin-e2e-memory");
  });

  after(() => scene?.clear());

  it("reaches one member, and the roll stops with the reason until the change is reverted", async function () {
    const { cluster, kubernetes } = scene;
    if (kubernetes.cluster.faults === null) {
      // Foreign nodes may not enforce limits, and their memory is in use.
      this.skip();
    }
    const limit = (memory: string): object => ({ limits: { memory } });
    const update = { soakSeconds: SOAK_SECONDS };
    await cluster.create({ replicas: 3, resources: limit(ENOUGH), update });
    await cluster.untilReady();
    const { load } = await scene.startLoad();
    const before = await uids();
    const fromMs = nowMs();
    await cluster.patch({ spec: { resources: limit(SMALL) } });
    const rolled = await until(
      "one member of the new template",
      async () => {
        const pod = (await cluster.pods()).find(({ metadata }) => !before.includes(metadata.uid));
        return pod !== undefined && isPodReady(pod) ? (pod.metadata.name as string) : null;
      },
      LIMIT_MS,
    );
    const inside = ["exec", rolled, "--namespace", cluster.namespace, "--container", "quoin"];
    // It disappears with its container.
    await kubernetes.cluster.kubectl([...inside, "--", "sh", "-c", FILL]).catch(() => undefined);
    const blocked = await until(
      "the roll to stop",
      async () => {
        const { blocked } = (await cluster.get())?.status ?? {};
        return blocked?.reason === "NewTemplateFails" ? blocked : null;
      },
      LIMIT_MS,
    );
    report(`stopped ${seconds(nowMs() - fromMs)} after the change: ${blocked.message}`);
    expect(blocked.message).to.include(`${rolled} has the new template`).and.include("OOMKilled");
    const row = (await cluster.get())?.status.members.find(({ name }: KubeObject) => name === rolled);
    expect(row).to.include({ lastTermination: "OOMKilled" });
    const stopped = await uids();
    expect(stopped.filter((uid) => before.includes(uid))).to.have.length(2);
    const stoppedMs = nowMs();
    await until(
      "the roll to be stopped for long",
      async () => {
        expect(await uids(), "no other member is restarted").to.deep.equal(stopped);
        return nowMs() - stoppedMs >= HELD_MS;
      },
      LIMIT_MS,
    );
    const backMs = nowMs();
    await cluster.patch({ spec: { resources: limit(ENOUGH) } });
    await until("it to be restarted", async () => !(await uids()).includes(uidOf(stopped, before)), LIMIT_MS);
    report(`restarted ${seconds(nowMs() - backMs)} after the change was reverted`);
    await cluster.untilReady();
    expect((await uids()).filter((uid) => before.includes(uid))).to.have.length(2);
    await load.untilMoreWrites();
    await load.stop();
    expect(load.judge()).to.deep.equal([]);
    expect(load.between(fromMs, nowMs()).failedWithRetries).to.deep.equal([]);
  });

  async function uids(): Promise<readonly string[]> {
    return (await scene.cluster.pods()).map(({ metadata }) => metadata.uid as string);
  }

  /** Of the restarted pod. */
  function uidOf(now: readonly string[], before: readonly string[]): string {
    return now.find((uid) => !before.includes(uid)) ?? "";
  }
});
