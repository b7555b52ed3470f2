import { expect } from "chai";
import { CLUSTER_ID, idOf, NOW, Scene } from "../../test/index.ts";
import { type ClusterStatus, plan } from "../plan/index.ts";
import { isWorthWriting, type Surroundings, statusOf } from "./index.ts";

const MINUTE_MS = 60_000;
const WELL: Surroundings = {
  tlsProblem: null,
  monitoringProblem: null,
  ownerProblem: null,
  tls: null,
  failures: [],
  backup: null,
};
const STARTED = "2026-01-01T00:00:00Z";

function status(scene: Scene, surroundings: Partial<Surroundings> = {}): ClusterStatus {
  const observed = scene.observe();
  return statusOf(observed, plan(observed), { ...WELL, ...surroundings });
}

/** As `True AsAsked`. */
function condition(scene: Scene, type: string, surroundings: Partial<Surroundings> = {}): string {
  const found = status(scene, surroundings).conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}`;
}

function withPast(scene: Scene, past: ClusterStatus): Scene {
  scene.cluster = { ...scene.cluster, status: past };
  return scene;
}

function ago(forMs: number): string {
  return new Date(NOW - forMs).toISOString();
}

function away(forMs: number): Scene {
  return new Scene(3).silent(2).pod(2, { unreadySince: NOW - forMs });
}

function drifting(): Scene {
  const scene = new Scene(3);
  scene.rest = { drift: [{ kind: "StatefulSet", name: "demo" }] };
  return scene;
}

function refused(): Scene {
  const scene = new Scene(3);
  scene.rest = { refusal: { reason: "OverlayRejected", message: "no", keepsReconciling: false } };
  return scene;
}

function failedExit(reason: string, stuck: boolean, minutesAgo: number): Scene {
  const exit = { reason, exitCode: 137, at: NOW - minutesAgo * MINUTE_MS };
  return new Scene(3).pod(2, { stuck, restarts: 4, failedExit: exit });
}

describe("status", () => {
  it("tells when the operator last saw the cluster, with a write every five minutes", () => {
    const seenAgo = (forMs: number): string | undefined =>
      status(withPast(new Scene(1), { lastObservedTime: ago(forMs) })).lastObservedTime;
    const now = ago(0).replace(".000Z", "Z");
    expect(seenAgo(5 * MINUTE_MS - 1)).to.equal(ago(5 * MINUTE_MS - 1));
    expect(seenAgo(5 * MINUTE_MS)).to.equal(now);
    expect(seenAgo(-1), "a clock that ran ahead").to.equal(now);
  });

  it("advises to raise the memory limit where it is set", () => {
    const message = (scene: Scene): string | undefined =>
      status(scene).conditions?.find(({ type }) => type === "Degraded")?.message;
    const containers = [{ name: "quoin", resources: { limits: { memory: "1Gi" } } }];
    expect(message(failedExit("OOMKilled", false, 0).spec({ resources: { limits: { memory: "2Gi" } } }))).to.match(
      /: raise spec\.resources\.limits\.memory above 2Gi$/,
    );
    expect(message(failedExit("OOMKilled", false, 0).spec({ podTemplate: { spec: { containers } } }))).to.match(
      /: raise spec\.podTemplate\.spec\.containers\[quoin\]\.resources\.limits\.memory above 1Gi$/,
    );
    expect(message(failedExit("OOMKilled", false, 0).spec({ resources: { limits: {} } }))).to.match(
      /: set spec\.resources\.limits\.memory$/,
    );
  });

  it("of a healthy cluster", () => {
    const { conditions, ...rest } = status(new Scene(1), { tls: { notAfter: STARTED, caNotAfter: STARTED } });
    expect(rest).to.deep.equal({
      observedGeneration: 1,
      lastObservedTime: ago(0).replace(".000Z", "Z"),
      clusterId: CLUSTER_ID,
      replicas: 1,
      readyReplicas: 1,
      selector: "quoin.dev/cluster=demo",
      voters: 1,
      learners: 0,
      membersSummary: "1/1",
      leader: "demo-0",
      term: 7,
      version: { current: "1.4.0", target: "1.4.0" },
      phase: "Ready",
      volumeSize: String(8 * 1024 ** 3),
      volumesBound: true,
      storageClassName: "standard",
      tls: { notAfter: STARTED, caNotAfter: STARTED },
      members: [
        {
          id: "10",
          name: "demo-0",
          role: "Voter",
          leader: true,
          ready: true,
          updated: true,
          state: "RUNNING",
          version: "1.4.0",
          node: "node-0",
        },
      ],
    });
    expect(conditions?.map((each) => [each.type, each.status, each.reason])).to.deep.equal([
      ["Ready", "True", "AsAsked"],
      ["Available", "True", "QuorumConfirmed"],
      ["Progressing", "False", "Settled"],
      ["Degraded", "False", "Healthy"],
      ["QuorumLost", "False", "QuorumNotLost"],
      ["AllMembersReady", "True", "AllReady"],
      ["AllMembersUpdated", "True", "AllUpdated"],
      ["VolumesReady", "True", "VolumesAsAsked"],
      ["TLSReady", "True", "CertificatesInOrder"],
      ["MonitoringReady", "True", "MonitoringAsAsked"],
      ["OwnerSecretReady", "True", "OwnerSecretPresent"],
      ["ReconcileSucceeded", "True", "Succeeded"],
      ["SpecAccepted", "True", "Accepted"],
      ["ReconcilePaused", "False", "NotPaused"],
    ]);
  });

  const problem = { reason: "Soon", message: "soon" };
  const volumes = (expandable: boolean): Scene => new Scene(3).claim(1, { capacity: 1, expandable });
  const rows: readonly (readonly [what: string, scene: () => Scene, type: string, found: string])[] = [
    ["members are missing", () => new Scene(3, 1), "Ready", "False MembersMissing"],
    ["members must leave", () => new Scene(3, 5), "Ready", "False MembersSurplus"],
    ["a learner must leave", () => new Scene(3).member(3, { voter: false }), "Ready", "False MembersSurplus"],
    ["a member is away", () => away(0), "Ready", "False MembersUnhealthy"],
    ["a pod is outdated", () => new Scene(3).outdated(1), "Ready", "False MembersOutdated"],
    ["a template is not written", drifting, "Ready", "False TemplateNotObserved"],
    ["a pod is too many", () => new Scene(3).scale(4), "Ready", "False PodsSurplus"],
    ["a volume is too small", () => volumes(true), "Ready", "False Growing"],
    ["no member leads", () => new Scene(3).leaderless(0), "Ready", "False NotAvailable"],
    ["the specification is refused", refused, "Ready", "False OverlayRejected"],
    ["no member leads", () => new Scene(3).leaderless(0), "Available", "False NoLeader"],
    [
      "the operator reaches no member, and pods are ready",
      () => {
        const scene = new Scene(3).leaderless(0);
        scene.reports.clear();
        return scene;
      },
      "Available",
      "Unknown MembersUnreachable",
    ],
    ["a step is taken", () => new Scene(3, 1), "Progressing", "True AddSlot"],
    ["a step is awaited", () => new Scene(3).slot(2, { voter: false }), "Progressing", "True AwaitLearner"],
    ["a member is away for less than a minute", () => away(MINUTE_MS - 1), "Degraded", "False Healthy"],
    ["a member is away for a minute", () => away(MINUTE_MS), "Degraded", "True MemberUnhealthy"],
    ["data is lost", () => new Scene(3).emptyMember(2, "MEMBER_DATA_LOST"), "Degraded", "True MemberDataLost"],
    ["data is damaged", () => new Scene(3).report(2, { state: "MEMBER_DAMAGED" }), "Degraded", "True MemberDamaged"],
    ["a member was ended for its memory", () => failedExit("OOMKilled", false, 0), "Degraded", "True OutOfMemory"],
    ["that was ten minutes ago", () => failedExit("OOMKilled", false, 10), "Degraded", "False Healthy"],
    ["a member ends again and again", () => failedExit("Error", true, 0), "Degraded", "True CrashLooping"],
    ["a member has ended once", () => failedExit("Error", false, 0), "Degraded", "False Healthy"],
    [
      "a pod has not started in time",
      () => new Scene(3).silent(2).pod(2, { started: false, runningSince: NOW - 11 * MINUTE_MS }),
      "Degraded",
      "True StartupBudgetSpent",
    ],
    [
      "all data is lost",
      () => new Scene(3).emptyMember(1, "MEMBER_DATA_LOST").emptyMember(2, "MEMBER_DATA_LOST").leaderless(0),
      "QuorumLost",
      "True MajorityDataLost",
    ],
    ["a pod is not ready", () => away(0), "AllMembersReady", "False NotAllReady"],
    ["a pod is outdated", () => new Scene(3).outdated(1), "AllMembersUpdated", "False Outdated"],
    ["a template is not written", drifting, "AllMembersUpdated", "Unknown RevisionNotObserved"],
    ["the class lets no volume grow", () => volumes(false), "VolumesReady", "False StorageClassForbidsExpansion"],
    ["the specification is refused", refused, "SpecAccepted", "False OverlayRejected"],
    [
      "it is paused",
      () => {
        const scene = new Scene(3);
        scene.cluster = {
          ...scene.cluster,
          metadata: { ...scene.cluster.metadata, annotations: { "quoin.dev/paused": "true" } },
        };
        return scene;
      },
      "ReconcilePaused",
      "True Annotated",
    ],
  ];
  for (const [what, scene, type, found] of rows) {
    it(`when ${what}: ${type} is ${found}`, () => {
      expect(condition(scene(), type)).to.equal(found);
    });
  }

  it("shows the findings from outside the planner", () => {
    expect(condition(new Scene(3), "TLSReady", { tlsProblem: problem })).to.equal("False Soon");
    expect(condition(new Scene(3), "Ready", { tlsProblem: problem })).to.equal("False Soon");
    expect(condition(new Scene(3), "MonitoringReady", { monitoringProblem: problem })).to.equal("False Soon");
    expect(condition(new Scene(3), "Ready", { monitoringProblem: problem })).to.equal("True AsAsked");
  });

  it("keeps when a condition began, and moves it only with the condition", () => {
    const past = status(new Scene(3));
    const old = {
      ...past,
      conditions: (past.conditions ?? []).map((each) => ({ ...each, lastTransitionTime: ago(MINUTE_MS) })),
    };
    const times = new Map(
      status(withPast(away(0), old)).conditions?.map((each) => [each.type, each.lastTransitionTime]),
    );
    expect(times.get("Ready")).to.equal(STARTED);
    expect(times.get("Available")).to.equal(ago(MINUTE_MS));
  });

  it("keeps since when a step is blocked, while its rule and target are the same", () => {
    const blocked = status(new Scene(3).outdated(0, 1).silent(2)).blocked;
    expect(blocked).to.include({ gate: "Roll", reason: "MemberUnhealthy", target: "demo-1", since: STARTED });
    const before = (target: string): ClusterStatus => ({
      blocked: { gate: "Roll", reason: "DisruptionBudget", target, message: "", since: "2025-12-31T23:00:00Z" },
    });
    const now = (target: string): string | undefined =>
      status(withPast(new Scene(3).outdated(0, 1).silent(2), before(target))).blocked?.since;
    expect(now("demo-1")).to.equal("2025-12-31T23:00:00Z");
    expect(now("demo-0")).to.equal(STARTED);
    expect(status(withPast(new Scene(3), before("demo-1"))).blocked).to.equal(undefined);
  });

  it("is degraded when a step has been blocked for ten minutes, but not when it waits for a human by agreement", () => {
    const manual = { mode: "Manual", soakSeconds: 5, startupBudgetSeconds: 600 } as const;
    const held = (scene: Scene, target: string, forMs: number): string =>
      condition(
        withPast(scene, { blocked: { gate: "Roll", reason: "Any", target, message: "", since: ago(forMs) } }),
        "Degraded",
      );
    const noNode = (): Scene => new Scene(3).outdated(0, 1).pod(2, { scheduled: false });
    expect(held(noNode(), "demo-1", 10 * MINUTE_MS)).to.equal("True Blocked");
    expect(held(noNode(), "demo-1", 10 * MINUTE_MS - 1000)).to.equal("False Healthy");
    expect(held(new Scene(3).outdated(2).spec({ update: manual }), "demo-2", 60 * MINUTE_MS)).to.equal("False Healthy");
  });

  it("is not ready while no Service leads to a member, however healthy that is", () => {
    const scene = new Scene(3).pod(1, { readySince: null });
    expect(condition(scene, "Ready")).to.equal("False MembersNotReady");
    expect(condition(scene, "Available")).to.equal("True QuorumConfirmed");
  });

  it("counts how long a member has had no pod", () => {
    const notReady = (forMs: number): ClusterStatus => ({
      conditions: [
        { type: "AllMembersReady", status: "False", reason: "A", message: "", lastTransitionTime: ago(forMs) },
      ],
    });
    expect(condition(withPast(new Scene(3).gone(2), notReady(MINUTE_MS)), "Degraded")).to.equal("True MemberUnhealthy");
    expect(condition(new Scene(3).gone(2), "Degraded")).to.equal("False Healthy");
  });

  it("names a phase", () => {
    const phases = [
      Scene.beginning(3),
      new Scene(3, 1),
      new Scene(3).outdated(2),
      new Scene(3).emptyMember(2, "MEMBER_DATA_LOST"),
      away(0),
      new Scene(3).leaderless(0),
      new Scene(3).leaderless(MINUTE_MS),
      refused(),
    ].map((scene) => status(scene).phase);
    expect(phases).to.deep.equal([
      "Starting",
      "Scaling",
      "Updating",
      "Repairing",
      "Degraded",
      "Unavailable",
      "QuorumLost",
      "Refused",
    ]);
  });

  it("says that a quorum is lost until a leader confirms one, also while a member does not answer", () => {
    const lost = (): Scene => new Scene(3).emptyMember(1, "MEMBER_DATA_LOST").emptyMember(2, "MEMBER_DATA_LOST");
    const silent = (): Scene => lost().leaderless(0).silent(2);
    const past = status(lost().leaderless(0));
    const of = (scene: Scene): string => condition(scene, "QuorumLost");
    expect(of(silent()), "not told before").to.equal("False QuorumNotLost");
    expect(of(withPast(silent(), past))).to.equal("True MajorityDataLost");
    expect(status(withPast(silent(), past)).phase).to.equal("QuorumLost");
    expect(of(withPast(new Scene(3), past)), "confirmed").to.equal("False QuorumNotLost");
  });

  it("shows no leader that has not just confirmed its quorum", () => {
    const { leader, members, voters } = status(new Scene(3).leaderless(0));
    expect(leader).to.equal(undefined);
    expect(members?.some((member) => member.leader)).to.equal(false);
    expect(voters).to.equal(3);
  });

  it("keeps the members that it knew while none of them answers", () => {
    const before = status(new Scene(3));
    const silent = new Scene(3).leaderless(0).silent(0).silent(1).silent(2).configured({ members: [] });
    const { members, voters, learners } = status(withPast(silent.pod(1, { restarts: 2 }), before));
    expect(members?.map(({ id, role, leader }) => [id, role, leader])).to.deep.equal(
      before.members?.map(({ id, role }) => [id, role, false]),
    );
    expect(members?.map(({ restarts }) => restarts)).to.deep.equal([undefined, 2, undefined]);
    expect([voters, learners]).to.deep.equal([3, 0]);
  });

  it("shows the lowest running version, and the members that lag", () => {
    const scene = new Scene(3)
      .report(1, { version: "1.10.0" })
      .report(2, { version: "1.9.0" })
      .report(0, { version: "1.10.0" });
    const found = status(scene.slot(2, { lagMs: 1_001 }).slot(1, { lagMs: 1_000 }));
    expect(found.version).to.deep.equal({ current: "1.9.0", target: "1.4.0" });
    expect(found.members?.map(({ lagMs }) => lagMs)).to.deep.equal([undefined, undefined, 1_001]);
  });

  it("counts restarts, and says how a process ended last", () => {
    const [, , row] = status(failedExit("OOMKilled", false, 1)).members ?? [];
    const at = ago(MINUTE_MS).replace(".000Z", "Z");
    expect(row).to.include({ name: "demo-2", restarts: 4, lastTermination: "OOMKilled", lastTerminationAt: at });
  });

  it("is written when it changed, and for the term alone only now and then", () => {
    const before = status(new Scene(3));
    const reordered = Object.fromEntries(Object.entries(before).reverse());
    expect(isWorthWriting(undefined, before, 0)).to.equal(true);
    expect(isWorthWriting(reordered, before, MINUTE_MS)).to.equal(false);
    expect(isWorthWriting(before, { ...before, term: 8 }, 29_999)).to.equal(false);
    expect(isWorthWriting(before, { ...before, term: 8 }, 30_000)).to.equal(true);
    expect(isWorthWriting(before, status(new Scene(3).configured({ leaderId: idOf(1), term: 8 })), 0)).to.equal(true);
  });
});
