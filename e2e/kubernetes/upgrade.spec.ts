/**
 * An upgrade as users do it: first the operator, which restarts no member, then the members, by a new version in the
 * specification. Clients read and write meanwhile.
 */

import { join } from "node:path";
import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { itWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import type { LeaderEndpoints } from "./leader-endpoints.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { conditionOf, isPodReady, LIMIT_MS, QuoinCluster } from "./quoin-cluster.ts";
import { quoinctl } from "./quoinctl.ts";
import { Restarts, restartIdentityOf } from "./restarts.ts";
import { OPERATOR_NAMESPACE, report, Scene, seconds } from "./scene.ts";

const MEMBERS = 3;
/** The longest time without an acknowledged write while a member restarts, including the leader. */
const GAP_MS_MAX = 1_000;
/** Default interval at which a node updates Services. */
const NODES_LOOK_MS = 1_000;
const DEFINITION = join(import.meta.dirname, "../../crds/quoin.dev_coordinationclusters.yaml");
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases/quoin-operator`;
const OPERATORS = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/pods`;
const OTHER_REPOSITORY = "quoin-e2e.invalid/quoin";

describe("An upgrade", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  let endpoints: LeaderEndpoints;
  let restarts: Restarts | null = null;
  let next = "";
  let operatorMs = 0;
  let membersMs = 0;

  before(async function () {
    scene = await Scene.set("quoin-e2e-upgrade");
    await scene.cluster.create({ replicas: MEMBERS });
    const [version] = await Promise.all([scene.kubernetes.cluster.provideNextVersion(), scene.cluster.untilReady()]);
    if (version === null) {
      this.skip();
    }
    next = version;
    ({ load, endpoints } = await scene.startLoad());
  });

  after(async () => {
    await restarts?.close();
    await scene?.clear();
  });

  it("of the operator, its defaults and the definition restarts no member", async () => {
    const { cluster, kubernetes } = scene;
    const before = (await cluster.pods()).map(restartIdentityOf);
    const { updateRevision } = (await cluster.set()).status;
    operatorMs = nowMs();
    const repository = ["--set", `memberImage.repository=${OTHER_REPOSITORY}`];
    await scene.installOperator("--set", `image.tag=${next}`, ...repository);
    await kubernetes.cluster.kubectl(["apply", "--server-side", "--force-conflicts", "--filename", DEFINITION]);
    await until("the new operator to work", newOperatorWorks, LIMIT_MS);
    await expectNewDefaults();
    // Waits for a change that affects no pod: it shows that this operator has reconciled the cluster.
    await cluster.patch({ spec: { update: { soakSeconds: 4 } } });
    await cluster.untilReady();
    await load.untilMoreWrites();
    expect((await cluster.pods()).map(restartIdentityOf)).to.deep.equal(before);
    expect((await cluster.set()).status.updateRevision).to.equal(updateRevision);
  });

  it("of the members restarts one pod at a time, the leader last, after it has handed over", async () => {
    const { cluster } = scene;
    const { leader, version } = (await cluster.get()).status;
    expect(version.current).not.to.equal(next);
    restarts = new Restarts(cluster);
    membersMs = nowMs();
    await cluster.patch({ spec: { version: next } });
    const { object, tookMs } = await cluster.untilReady();
    report(`${MEMBERS} members run ${next} after ${seconds(tookMs)}`);
    expect(object.status.version).to.deep.equal({ current: next, target: next });
    expect(conditionOf(object, "AllMembersUpdated")?.status).to.equal("True");
    await load.untilMoreWrites();
    const names = restarts.all.map(({ name }) => name);
    const followers = ["demo-2", "demo-1", "demo-0"].filter((name) => name !== leader);
    expect(names).to.deep.equal([...followers, leader]);
    const last = restarts.all.at(-1);
    expect(last?.role, "role of the last when its deletion was requested").to.equal("follower");
    // At that moment its clients reconnect, and nodes route them to the new leader.
    const found = endpoints.podsAt((last?.endedMs ?? 0) - NODES_LOOK_MS);
    expect(found, "in the leader Service before").to.have.length(1).and.not.to.include(leader);
    expect(restarts.awayMax, "pods that were away at the same time").to.equal(1);
  });

  it("has lost nothing, has shown nothing old, has failed no client that retries, and is hardly noticed", async () => {
    await load.stop();
    const steps = (restarts?.all ?? []).map(({ name, readyMs }, at, all) => ({
      what: `${name} restarted`,
      fromMs: at === 0 ? membersMs : (all[at - 1]?.readyMs ?? 0),
      toMs: readyMs ?? nowMs(),
    }));
    const gapsMs = [{ what: "operator upgraded", fromMs: operatorMs, toMs: membersMs }, ...steps].map(
      ({ what, fromMs, toMs }) => {
        const { gapMs, failedWithRetries, failedWithout } = load.between(fromMs, toMs);
        report(
          `${what} in ${seconds(toMs - fromMs)}: longest gap between writes ${seconds(gapMs)}, ` +
            `failed ${failedWithRetries.length} with and ${failedWithout} without retries, ` +
            `leader Service to no pod ${seconds(endpoints.withoutPodsMs(fromMs, toMs))}`,
        );
        return gapMs;
      },
    );
    expect(load.judge()).to.deep.equal([]);
    expect(load.between(0, nowMs()).failedWithRetries).to.deep.equal([]);
    expect(gapsMs.filter((gapMs) => gapMs > GAP_MS_MAX)).to.deep.equal([]);
  });

  itWithAll("of a single member brings its data back", async () => {
    const single = new QuoinCluster(scene.kubernetes, scene.cluster.namespace, "single");
    const { repository } = (await scene.cluster.get()).spec.image;
    await single.create({ replicas: 1, image: { repository } });
    await single.untilReady();
    await quoinctl(single, "kv", "put", "default/kept", "as it was");
    const [pod] = await single.pods();
    const startedMs = performance.now();
    await single.patch({ metadata: { annotations: { "quoin.dev/restart": "1" } } });
    const isRestarted = async (): Promise<boolean> => {
      const [now] = await single.pods();
      return now !== undefined && now.metadata.uid !== pod.metadata.uid && isPodReady(now);
    };
    await until("another pod to be ready", isRestarted, LIMIT_MS);
    report(`a single member is back after ${seconds(performance.now() - startedMs)}`);
    expect(await quoinctl(single, "kv", "get", "default/kept")).to.include("as it was");
    expect((await single.untilReady()).object.status).to.include({ voters: 1, membersSummary: "1/1" });
  });

  /** Whether an operator of the new image holds the Lease. */
  async function newOperatorWorks(): Promise<boolean> {
    const holder: string | undefined = (await scene.kubernetes.get(LEASE))?.spec.holderIdentity;
    const { items } = await scene.kubernetes.get(OPERATORS);
    const pod = items.find(({ metadata }: KubeObject) => metadata.name === holder);
    return pod?.spec.containers[0].image.endsWith(`:${next}`) === true;
  }

  /** A new cluster without version and image gets those of the new operator; the test does nothing else with it. */
  async function expectNewDefaults(): Promise<void> {
    const { kubernetes, cluster } = scene;
    const newer = new QuoinCluster(kubernetes, cluster.namespace, "newer");
    const metadata = { name: newer.name, annotations: { "quoin.dev/paused": "true" } };
    const object = { apiVersion: "quoin.dev/v1alpha1", kind: "CoordinationCluster", metadata, spec: {} };
    await kubernetes.apply(cluster.namespace, object);
    const spec = await until(
      "defaults to be written down",
      async () => {
        const { spec } = await newer.get();
        return spec.version === undefined ? null : spec;
      },
      LIMIT_MS,
    );
    expect(spec.version).to.equal(next);
    expect(spec.image.repository).to.equal(OTHER_REPOSITORY);
    await kubernetes.send("DELETE", newer.path);
  }
});
