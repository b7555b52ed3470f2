/**
 * The leader's process is killed while clients read and write: another member soon leads, and nothing is lost. The
 * members take turns as leader, because a kubelet delays the restart of a process that ends repeatedly. Then members
 * lose their pods and their disks, and rejoin by themselves with new ids.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { IS_ALL } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import type { LeaderEndpoints } from "./leader-endpoints.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { containerIdOf, isPodReady, LIMIT_MS } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
const ROUNDS = IS_ALL ? 9 : 3;
/** The Service must route to the next leader within this time. */
const SERVICE_MS_MAX = 5_000;
const SIGKILLED = 137;
const REPLACED_MS_MAX = 90_000;

interface Round {
  readonly killed: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly serviceMs: number;
}

interface Replacement {
  readonly role: string;
  readonly fromMs: number;
  readonly toMs: number;
}

describe("A cluster that loses its leader, and disks", function () {
  this.timeout(LIMIT_MS * 4);
  let scene: Scene;
  let load: LoadPod;
  let endpoints: LeaderEndpoints;
  const rounds: Round[] = [];
  const replacements: Replacement[] = [];
  let severalMsMax = 0;

  before(async () => {
    scene = await Scene.set("quoin-e2e-leader-loss");
    await scene.cluster.create({ replicas: MEMBERS });
    await scene.cluster.untilReady();
    await scene.cluster.untilPodsReady(MEMBERS);
    ({ load, endpoints } = await scene.startLoad());
  });

  after(() => scene?.clear());

  for (let round = 1; round <= ROUNDS; round++) {
    it(`has another leader behind the leader Service, and gets all members back (${round} of ${ROUNDS})`, async function () {
      const { cluster, kubernetes } = scene;
      const { faults } = kubernetes.cluster;
      if (faults === null) {
        this.skip();
      }
      const killed = `${cluster.name}-${round % MEMBERS}`;
      await handOver(killed);
      const pod = await cluster.pod(killed);
      const killedId = containerIdOf(pod);
      const fromMs = nowMs();
      faults.killContainer(pod.spec.nodeName, killedId);
      const next = await cluster.untilAnotherLeads(killed);
      const atMs = await until("the Service to lead to it", () => endpoints.aloneSince(next, fromMs), LIMIT_MS);
      // Its kubelet may not have noticed the kill yet; the next round would then break the majority.
      const restarted = await until(
        `${killed} to be started again`,
        async () => {
          const pod = await cluster.pod(killed);
          return containerIdOf(pod) !== killedId && isPodReady(pod) ? pod : null;
        },
        LIMIT_MS,
      );
      await cluster.untilPodsReady(MEMBERS);
      await load.untilMoreWrites();
      rounds.push({ killed, fromMs, toMs: nowMs(), serviceMs: atMs - fromMs });
      const [before] = pod.status.containerStatuses;
      const [after] = restarted.status.containerStatuses;
      expect(restarted.metadata.uid, "the pod of before").to.equal(pod.metadata.uid);
      expect(after.restartCount, "restarts by the kubelet").to.equal(before.restartCount + 1);
      // The kubelet's cleaning may take a killed container away while its successor is created.
      expect(after.lastState.terminated?.exitCode ?? SIGKILLED, "killed by SIGKILL").to.equal(SIGKILLED);
    });
  }

  for (const role of IS_ALL ? (["follower", "leader"] as const) : (["leader"] as const)) {
    it(`replaces the ${role} without its disk by a member of the same name and another id`, async () => {
      const { cluster, kubernetes } = scene;
      const before: KubeObject[] = (await cluster.get()).status.members;
      const lost = before.find(({ leader }) => leader === (role === "leader"));
      const core = `/api/v1/namespaces/${cluster.namespace}`;
      const fromMs = nowMs();
      await kubernetes.send("DELETE", `${core}/persistentvolumeclaims/data-${lost.name}`);
      await kubernetes.send("DELETE", `${core}/pods/${lost.name}`);
      const replaced = await until(
        `${lost.name} to vote under another id`,
        async () => {
          const members: KubeObject[] = (await cluster.get()).status.members;
          return members.find(
            (member) => member.name === lost.name && member.id !== lost.id && member.role === "Voter",
          );
        },
        LIMIT_MS,
      );
      const tookMs = nowMs() - fromMs;
      report(`${role} ${lost.name} was member ${lost.id}, votes as ${replaced.id} after ${seconds(tookMs)}`);
      const { object } = await cluster.untilReady();
      expect(object.status).to.include({ voters: MEMBERS, learners: 0 });
      expect(object.status.members.map(({ id }: KubeObject) => id)).not.to.include(lost.id);
      expect(tookMs).to.be.below(REPLACED_MS_MAX);
      await load.untilMoreWrites();
      replacements.push({ role, fromMs, toMs: nowMs() });
    });
  }

  it("has lost nothing, has shown nothing old, and has failed no client that retries while a disk was lost", async () => {
    await load.stop();
    for (const { role, fromMs, toMs } of replacements) {
      const { gapMs, failedWithRetries, failedWithout } = load.between(fromMs, toMs);
      report(`${role}: longest gap between writes ${seconds(gapMs)}, without retries failed ${failedWithout}`);
      expect(failedWithRetries).to.deep.equal([]);
    }
    const gapsMs: number[] = [];
    for (const { killed, fromMs, toMs, serviceMs } of rounds) {
      const { gapMs, failedWithRetries, failedWithout } = load.between(fromMs, toMs);
      gapsMs.push(gapMs);
      report(
        `${killed} killed: longest gap between writes ${seconds(gapMs)}, Service right after ${seconds(serviceMs)}, ` +
          `to several ${seconds(endpoints.severalMs(fromMs, toMs))}, to no pod ${seconds(endpoints.withoutPodsMs(fromMs, toMs))}, ` +
          `failed ${failedWithRetries.length} with and ${failedWithout} without retries`,
      );
    }
    const [median = 0, longest = 0] = [gapsMs.sort((a, b) => a - b)[Math.floor(gapsMs.length / 2)], gapsMs.at(-1)];
    report(`gap between writes: half of the rounds up to ${seconds(median)}, all up to ${seconds(longest)}`);
    report(`after a transfer, the Service led to several for ${seconds(severalMsMax)} at the most`);
    expect(load.judge()).to.deep.equal([]);
    expect(rounds.filter(({ serviceMs }) => serviceMs > SERVICE_MS_MAX)).to.deep.equal([]);
  });

  /** Makes this pod the leader, and waits until the Service routes to it. */
  async function handOver(to: string): Promise<void> {
    const { cluster } = scene;
    if ((await cluster.leaderPod())?.metadata.name === to) {
      return;
    }
    const fromMs = nowMs();
    await quoinctl(cluster, "leader", "transfer", to);
    await until(`the Service to lead to ${to}`, () => endpoints.aloneSince(to, fromMs), LIMIT_MS);
    severalMsMax = Math.max(severalMsMax, endpoints.severalMs(fromMs, nowMs()));
  }
});
