import { expect } from "chai";
import { clusterOf } from "../../test/index.ts";
import { type Claim, claimViewOf } from "./claim-view.ts";
import { type Pod, podViewOf } from "./pod-view.ts";
import { adminEndpointOf } from "./reports.ts";
import { type StatefulSet, settingsNote, setViewOf } from "./set-view.ts";

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
const ms = (second: number): number => Date.parse(at(second));
const NONE_STARTED: ReadonlySet<string> = new Set();

function pod(status: NonNullable<Pod["status"]>, metadata: Pod["metadata"] = {}): Pod {
  return {
    metadata: { uid: "u", resourceVersion: "7", creationTimestamp: at(1), ...metadata },
    spec: { containers: [] },
    status,
  };
}

const condition = (type: string, status: string, second: number) => ({ type, status, lastTransitionTime: at(second) });

describe("views of objects", () => {
  it("sees a pod that is ready", () => {
    const running = { state: { running: { startedAt: at(3) } }, started: true };
    const container = { name: "quoin", image: "", imageID: "", ready: true, restartCount: 0, ...running };
    const status = {
      conditions: [condition("Initialized", "True", 2), condition("Ready", "True", 9)],
      containerStatuses: [container],
    };
    const labels = { "controller-revision-hash": "r", "quoin.dev/role": "leader" };
    const annotations = { "quoin.dev/version": "1.4.0", "quoin.dev/term": "12" };
    const view = podViewOf(
      { ...pod(status, { labels, annotations }), spec: { containers: [], nodeName: "n" } },
      2,
      NONE_STARTED,
    );
    expect(view).to.deep.equal({
      ordinal: 2,
      uid: "u",
      resourceVersion: "7",
      revision: "r",
      version: "1.4.0",
      terminating: false,
      readySince: ms(9),
      unreadySince: null,
      scheduled: true,
      node: "n",
      role: "leader",
      term: 12,
      runningSince: ms(3),
      notRunningSince: null,
      started: true,
      everStarted: true,
      created: ms(1),
      stuck: false,
      restarts: 0,
      lastExit: null,
      failedExit: null,
    });
  });

  it("sees a pod that waits for a node, since it was made", () => {
    const view = podViewOf(pod({ conditions: [condition("PodScheduled", "False", 1)] }), 0, NONE_STARTED);
    expect(view).to.include({
      scheduled: false,
      node: null,
      readySince: null,
      unreadySince: ms(1),
      role: null,
      term: null,
    });
    expect(view).to.include({ runningSince: null, notRunningSince: ms(1), started: false, everStarted: false });
  });

  it("counts a pod whose process has ended from there, and knows that it was ready once", () => {
    const lastState = { terminated: { exitCode: 1, finishedAt: at(30) } };
    const state = { waiting: { reason: "CrashLoopBackOff" } };
    const container = {
      name: "quoin",
      image: "",
      imageID: "",
      ready: false,
      restartCount: 3,
      started: false,
      state,
      lastState,
    };
    const conditions = (ready: number) => [condition("Initialized", "True", 2), condition("Ready", "False", ready)];
    const view = podViewOf(pod({ conditions: conditions(29), containerStatuses: [container] }), 0, NONE_STARTED);
    expect(view).to.include({ notRunningSince: ms(30), started: false, everStarted: true, stuck: true, restarts: 3 });
    expect(view.failedExit).to.deep.equal({ reason: "Error", exitCode: 1, at: ms(30) });
    const never = pod({ conditions: conditions(2), containerStatuses: [container] });
    expect(podViewOf(never, 0, NONE_STARTED).everStarted).to.equal(false);
    expect(podViewOf(never, 0, new Set(["u"])).everStarted, "as was seen before").to.equal(true);
  });

  it("sees why a process ended that runs again, and nothing in one that ended as it was asked to", () => {
    const exitOf = (exitCode: number, reason: string) => {
      const lastState = { terminated: { exitCode, reason, finishedAt: at(30) } };
      const container = { name: "quoin", image: "", imageID: "", ready: true, restartCount: 1, lastState };
      const state = { running: { startedAt: at(31) } };
      return podViewOf(pod({ containerStatuses: [{ ...container, state }] }), 0, NONE_STARTED);
    };
    const failedExit = { reason: "OOMKilled", exitCode: 137, at: ms(30) };
    expect(exitOf(137, "OOMKilled")).to.deep.include({ stuck: false, restarts: 1, failedExit });
    const lastExit = { reason: "Completed", exitCode: 0, at: ms(30) };
    expect(exitOf(0, "Completed")).to.deep.include({ restarts: 1, lastExit, failedExit: null });
  });

  it("dials the pod's address", () => {
    expect(adminEndpointOf(pod({ podIP: "10.0.0.7" }))).to.equal("10.0.0.7:7403");
    expect(adminEndpointOf(pod({ podIP: "fd00::7" }))).to.equal("[fd00::7]:7403");
    expect(adminEndpointOf(pod({}))).to.equal(null);
  });

  const cluster = clusterOf();
  const identity = { clusterId: "c", founder: "demo-0", founderIncarnation: "i" };
  const claim = (metadata: Claim["metadata"], rest: Partial<Claim> = {}): Claim => ({
    metadata: { uid: "u", resourceVersion: "7", creationTimestamp: at(10), ...metadata },
    spec: { resources: { requests: { storage: "8Gi" } } },
    ...rest,
  });
  const view = (of: Claim, setCreated: number | null = ms(10)) =>
    claimViewOf(of, 1, { cluster, identity, setCreated, expandable: true });

  it("takes a claim for the cluster's own by its note, and without one by its age", () => {
    const noted = (clusterId: string): Claim => claim({ annotations: { "quoin.dev/cluster-id": clusterId } });
    expect([view(noted("c"), null).ours, view(noted("other")).ours]).to.deep.equal([true, false]);
    expect([view(claim({})).ours, view(claim({}), ms(11)).ours, view(claim({}), null).ours]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  it("counts a claim as left over if it is younger than the cluster, and has neither a set nor a volume", () => {
    const created = (seconds: number | undefined) => ({
      ...cluster,
      metadata: { ...cluster.metadata, ...(seconds === undefined ? {} : { creationTimestamp: at(seconds) }) },
    });
    const isLeftover = (of: Claim, clusterSeconds: number | undefined, setCreated: number | null = null): boolean =>
      claimViewOf(of, 1, { cluster: created(clusterSeconds), identity: null, setCreated, expandable: true }).leftover;
    expect(isLeftover(claim({}), 9)).to.equal(true);
    expect([isLeftover(claim({}), 10), isLeftover(claim({}), undefined)], "older").to.deep.equal([false, false]);
    expect(isLeftover(claim({}), 9, ms(10)), "a set").to.equal(false);
    expect(isLeftover(claim({}, { spec: { volumeName: "v" } }), 9), "a volume").to.equal(false);
    expect(isLeftover(claim({ annotations: { "quoin.dev/cluster-id": "c" } }), 9), "a note").to.equal(false);
    const owner = { apiVersion: cluster.apiVersion, kind: cluster.kind, name: "demo", uid: "before" };
    expect(isLeftover(claim({ ownerReferences: [owner] }), 9), "another owner").to.equal(false);
  });

  it("never takes a claim that another CoordinationCluster owns", () => {
    const owner = { apiVersion: cluster.apiVersion, kind: cluster.kind, name: "demo", uid: "before" };
    const found = view(claim({ ownerReferences: [owner], annotations: { "quoin.dev/cluster-id": "c" } }));
    expect([found.ours, found.foreign]).to.deep.equal([false, true]);
    expect(view(claim({ ownerReferences: [{ ...owner, uid: "cr-uid" }] })).foreign).to.equal(false);
  });

  it("reads whose data a claim has, how large it is, and whether it waits to grow", () => {
    const conditions = [{ ...condition("FileSystemResizePending", "True", 20) }];
    const status = { capacity: { storage: "4Gi" }, conditions };
    const annotations = { "quoin.dev/member-id": "12" };
    expect(view(claim({ annotations, deletionTimestamp: at(30) }, { status }))).to.include({
      memberId: 12,
      requested: 8 * 1024 ** 3,
      capacity: 4 * 1024 ** 3,
      resizePendingSince: ms(20),
      terminating: true,
    });
    expect(view(claim({ annotations: { "quoin.dev/member-id": "none" } })).memberId).to.equal("none");
    expect(view(claim({}))).to.include({ memberId: null, capacity: null, resizePendingSince: null });
  });

  it("believes a set's revision only once its controller has seen the latest", () => {
    const set = (observedGeneration: number, updateRevision?: string): StatefulSet => ({
      metadata: { uid: "u", resourceVersion: "7", generation: 3 },
      spec: { replicas: 3, selector: {}, serviceName: "", template: {} },
      status: { replicas: 3, observedGeneration, ...(updateRevision === undefined ? {} : { updateRevision }) },
    });
    expect(setViewOf(set(3, "r"))).to.include({ replicas: 3, updateRevision: "r", caughtUp: true });
    expect(setViewOf(set(2, "r")).caughtUp).to.equal(false);
    expect(setViewOf(set(3)).caughtUp).to.equal(false);
  });

  it("reads its own notes on a set again, and nothing that others wrote there", () => {
    const settings = { revision: 4, values: new Map([["token.lifetime_secs", "60"]]) };
    const noted = (note: string): StatefulSet => ({
      metadata: { annotations: { "quoin.dev/settings": note, "quoin.dev/config-index": "12" } },
    });
    expect(setViewOf(noted(settingsNote(settings)))).to.deep.include({ settings, configIndex: 12 });
    for (const note of ["", "x", "null", "[]", "{}", '{"revision":"4","values":{}}', '{"revision":4,"values":null}']) {
      expect(setViewOf(noted(note)).settings, note).to.equal(null);
    }
  });
});
