/**
 * A rolling upgrade under load, from the last release that ran cluster version 6, built from its commit. The members
 * raise the version by themselves once all of them run the new release. Until then they refuse the methods that came with
 * it. The new release converts their data, so the operator refuses a downgrade.
 */

import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import type { LoadPod } from "./load-pod.ts";
import { isPodReady, LIMIT_MS } from "./quoin-cluster.ts";
import { quoinctl, quoinctlAt } from "./quoinctl.ts";
import { Restarts } from "./restarts.ts";
import { report, Scene, seconds } from "./scene.ts";

const MEMBERS = ["demo-0", "demo-1", "demo-2"];
const [FORMER, NEW] = [6, 7] as const;
/** The members wait this long before they raise the version. */
const RAISE_MS = 60_000;
const METRIC = /^quoin_cluster_version (\d+)$/m;
const NOT_YET =
  "the cluster is being upgraded: this method is served a minute after the last member has started the new release " +
  "(NOT_SERVED)";

/** A call of a method that the former release lacks, as a member's own command line makes it. */
interface NewCall {
  readonly method: string;
  readonly args: (member: string) => readonly string[];
  readonly input?: string;
}

const NEW_CALLS: readonly NewCall[] = [
  {
    method: "Transact",
    args: () => ["txn", "default"],
    input: '{"success": [{"put": {"key": "upgraded", "value_text": "yes"}}, {"get": {"key": "upgraded"}}]}',
  },
  { method: "CreateSession", args: () => ["session", "create", "default"] },
  { method: "CreateSemaphore", args: (member) => ["semaphore", "create", `default/of-${member}`, "--permits", "2"] },
  { method: "DeleteNamespace", args: (member) => ["namespace", "delete", namespaceOf(member)] },
];

describeWithAll("An upgrade to a newer cluster version", function () {
  this.timeout(LIMIT_MS * 3);
  let scene: Scene;
  let load: LoadPod;
  let restarts: Restarts | null = null;
  let token = "";
  let former = "";
  let next = "";
  let fromMs = 0;
  /** When all members ran the new release. */
  let upgradedMs = 0;

  before(async function () {
    scene = await Scene.set("quoin-e2e-cluster-version");
    const { cluster } = scene.kubernetes;
    const [tag, version] = [await cluster.provideFormerRelease(), await cluster.provideNextVersion()];
    if (tag === null || version === null) {
      this.skip();
    }
    [former, next] = [tag, version];
    await scene.cluster.create({ replicas: MEMBERS.length, image: { tag: former } });
    await scene.cluster.untilReady();
    // Members of the former release exchange no API key for clients of this one.
    token = (await quoinctl(scene.cluster, "token")).trim();
    for (const member of MEMBERS) {
      await quoinctl(scene.cluster, "namespace", "create", namespaceOf(member));
    }
    ({ load } = await scene.startLoad({ token }));
    restarts = new Restarts(scene.cluster);
    fromMs = nowMs();
  });

  after(async () => {
    await restarts?.close();
    await scene?.clear();
  });

  it("changes no cluster version while a member may still run the former release, and serves no new method", async () => {
    const { cluster } = scene;
    expect(await versions(), "the former release").to.deep.equal([FORMER, FORMER, FORMER]);
    await cluster.patch({ spec: { version: next, image: { tag: null } } });
    const [{ tookMs, shown }] = await Promise.all([untilReadyWithVersions(), ...MEMBERS.map(refusesNewCalls)]);
    report(`${MEMBERS.length} members run the new release after ${seconds(tookMs)}`);
    expect(
      shown.filter((version) => version !== 0),
      "while members are restarted",
    ).to.deep.equal([FORMER]);
    expect(await versions()).to.deep.equal([FORMER, FORMER, FORMER]);
    expect(restarts?.all.map(({ name }) => name)).to.have.members(MEMBERS);
    expect(restarts?.awayMax).to.equal(1);
    await load.untilMoreWrites();
  });

  it("raises it when all members have run the new release for a while, and serves the new methods", async () => {
    await until("all members to run the new cluster version", isRaised, LIMIT_MS);
    const tookMs = nowMs() - upgradedMs;
    report(`cluster version ${NEW} ${seconds(tookMs)} later`);
    // The members count from the start of the last one, slightly before Kubernetes sees it as ready.
    expect(tookMs).to.be.above(RAISE_MS / 2);
    for (const member of MEMBERS) {
      for (const call of NEW_CALLS) {
        await called(member, call);
      }
    }
    await load.untilMoreWrites();
  });

  it("ends the way back: the operator starts no member of the former release, and all go on", async () => {
    const { cluster } = scene;
    const { leader, version } = (await cluster.get()).status;
    const before = restarts?.all.length;
    await cluster.patch({ spec: { version: "0.1.0", image: { tag: former } } });
    const blocked = async () => (await cluster.get()).status.blocked?.reason === "DowngradeBelowFloor";
    await until("the downgrade to be refused", blocked, LIMIT_MS);
    await load.untilMoreWrites();
    expect((await cluster.get()).status.leader).to.equal(leader);
    expect(restarts?.all.length).to.equal(before);
    await cluster.patch({ spec: { version: next, image: { tag: null } } });
    await cluster.untilReady();
    expect((await cluster.get()).status.version.current).to.equal(version.current);
    expect(await versions()).to.deep.equal([NEW, NEW, NEW]);
    await load.untilMoreWrites();
  });

  it("has lost nothing, has shown nothing old, and has failed no client that retries", async () => {
    await load.stop();
    const { acknowledgedWrites, gapMs, failedWithRetries, failedWithout } = load.between(fromMs, nowMs());
    report(
      `${acknowledgedWrites} writes acknowledged, longest gap between them ${seconds(gapMs)}, ` +
        `failed ${failedWithRetries.length} with and ${failedWithout} without retries`,
    );
    expect(load.judge()).to.deep.equal([]);
    expect(failedWithRetries).to.deep.equal([]);
  });

  /** Asks a member for each of the new methods when it runs the new release, and expects the refusal. */
  async function refusesNewCalls(member: string): Promise<void> {
    const runsNew = async (): Promise<boolean> => {
      const pod = await scene.cluster.pod(member);
      return isPodReady(pod) && !pod.spec.containers[0].image.endsWith(`:${former}`);
    };
    await until(`${member} to run the new release`, runsNew, LIMIT_MS * 2);
    for (const call of NEW_CALLS) {
      const answer = await called(member, call).catch((error: Error) => error.message);
      expect(answer, `${call.method} at ${member}`).to.include(NOT_YET);
    }
  }

  function called(member: string, { args, input = "" }: NewCall): Promise<string> {
    return quoinctlAt(scene.cluster, { member, token, input }, ...args(member), "--timeout", "30s");
  }

  /** The cluster versions that any member shows until all are ready, and how long that takes. */
  async function untilReadyWithVersions(): Promise<{ readonly tookMs: number; readonly shown: readonly number[] }> {
    const shown = new Set<number>();
    let isReady = false;
    const ready = scene.cluster.untilReady().finally(() => {
      isReady = true;
      upgradedMs = nowMs();
    });
    const look = async (): Promise<boolean> => {
      for (const version of await versions()) {
        shown.add(version);
      }
      return isReady;
    };
    const looks = until("the upgrade", look, LIMIT_MS * 2);
    const [{ tookMs }] = await Promise.all([ready, looks]);
    return { tookMs, shown: [...shown] };
  }

  /** The cluster version that each member shows; 0 from a member that shows none. */
  async function versions(): Promise<number[]> {
    const { kubernetes, cluster } = scene;
    const pods = await cluster.pods();
    const texts = pods.map(({ metadata }: KubeObject) =>
      kubernetes.text(`/api/v1/namespaces/${cluster.namespace}/pods/${metadata.name}:7404/proxy/metrics`),
    );
    return (await Promise.all(texts)).map((text) => Number(METRIC.exec(text ?? "")?.[1] ?? 0));
  }

  async function isRaised(): Promise<boolean> {
    return (await versions()).every((version) => version === NEW);
  }
});

/** Deleted at this member. */
function namespaceOf(member: string): string {
  return `deleted-at-${member}`;
}
