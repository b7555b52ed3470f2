import { expect } from "chai";
import { CLUSTER_ID, CONFIG_INDEX, crashing, founding, idOf, NOW, Scene, table } from "../../test/index.ts";
import { plan } from "./planner.ts";
import { minAvailableOf, quorumOf } from "./quorum.ts";

const MINUTE_MS = 60_000;

/** A pod that cannot start. */
function stuck(scene: Scene, ordinal: number, forMs = MINUTE_MS): Scene {
  return scene.silent(ordinal).pod(ordinal, {
    runningSince: null,
    notRunningSince: NOW - forMs,
    unreadySince: NOW - forMs,
    started: false,
    everStarted: false,
  });
}

/** Five voters and a specification of three members; the last voter leads. */
function fiveToThree(): Scene {
  return new Scene(3, 5);
}

function lost(scene: Scene, ordinal: number): Scene {
  return scene.emptyMember(ordinal, "MEMBER_DATA_LOST");
}

function refusedBy(scene: Scene, message: string, tended = false): Scene {
  scene.rest = { ...scene.rest, refusal: { reason: "OverlayRejected", message, keepsReconciling: tended } };
  return scene;
}

function annotated(scene: Scene, metadata: Partial<Scene["cluster"]["metadata"]>): Scene {
  scene.cluster = { ...scene.cluster, metadata: { ...scene.cluster.metadata, ...metadata } };
  return scene;
}

describe("planner", () => {
  for (const replicas of [1, 3, 5, 7] as const) {
    it(`leaves a healthy cluster of ${replicas} alone`, () => {
      expect(plan(new Scene(replicas).observe())).to.deep.equal({
        upkeep: [],
        step: null,
        blocker: null,
        requeueMs: 10_000,
      });
    });
  }

  it("plans again at once after a step, soon when it is held, and else later", () => {
    expect(plan(new Scene(3, 1).observe()).requeueMs).to.equal(0);
    expect(plan(new Scene(3).leaderless(0).observe()).requeueMs).to.equal(2_000);
    expect(plan(new Scene(3).observe()).requeueMs).to.equal(10_000);
  });

  table("before the rules", [
    ["a deleted cluster", () => annotated(new Scene(3, 1), { deletionTimestamp: "2026-01-01T00:00:00Z" }), "nothing"],
    ["a paused cluster", () => annotated(new Scene(3, 1), { annotations: { "quoin.dev/paused": "true" } }), "nothing"],
    ["a refused specification", () => refusedBy(new Scene(3, 1), "no"), "nothing"],
    [
      "a refused specification, while another one is followed",
      () => refusedBy(new Scene(3, 1), "no", true),
      "AddSlot: add-slot demo-1",
    ],
    [
      "a refused specification, and a broken pod",
      () => refusedBy(stuck(new Scene(3).outdated(2), 2), "no"),
      "RecreateBroken: delete-pod demo-2",
    ],
  ]);

  table("Adopt", [
    ["nothing at all", () => Scene.beginning(3), "Adopt: create-set demo"],
    [
      "volumes of a cluster that was deleted",
      () => Scene.beginning(3).claim(0).claim(1).claim(2),
      "Adopt: create-identity demo-identity",
    ],
    [
      "volumes of two clusters",
      () => Scene.beginning(3).claim(0).claim(1, { clusterId: "cluster-2" }),
      "Adopt holds: IdentityConflict demo-identity",
    ],
    [
      "a volume that is going",
      () => Scene.beginning(3).claim(0, { terminating: true }),
      "Adopt holds: ClaimTerminating data-demo-0",
    ],
    [
      "a volume of another CoordinationCluster",
      () => Scene.beginning(3).claim(0, { foreign: true }),
      "Adopt holds: ClaimTerminating data-demo-0",
    ],
    [
      "an identity that was deleted under members that run",
      () => Object.assign(new Scene(3), { identity: null }),
      "Adopt: create-identity demo-identity",
    ],
    [
      "a cluster that is remembered, and nothing of it left",
      () => {
        const scene = Scene.beginning(3);
        scene.cluster = { ...scene.cluster, status: { clusterId: CLUSTER_ID } };
        return scene;
      },
      "Adopt holds: IdentityConflict demo-identity",
    ],
  ]);

  it("Adopt: creates as many pods as the volumes of its cluster need, and no member may found with a recreated identity", () => {
    const scene = Scene.beginning(1).claim(0).claim(4).claim(5, { clusterId: "cluster-2", ours: false });
    scene.identity = new Scene(1).identity;
    expect(plan(scene.observe()).step?.action).to.deep.equal({ kind: "create-set", replicas: 5 });
    const restored = plan(Scene.beginning(3).claim(0).observe()).step?.action;
    expect(restored).to.include({ clusterId: CLUSTER_ID, founder: "-", founderIncarnation: "-" });
  });

  const identified = (incarnation: string): Scene =>
    Object.assign(founding(), {
      identity: { clusterId: CLUSTER_ID, founder: "demo-0", founderIncarnation: incarnation },
    });
  table("Found", [
    ["an empty pod", founding, "Found: create-identity demo-0"],
    ["a pod that does not answer", () => founding().gone(0), "Found holds: WaitingForFounder demo-0"],
    ["the pod that the identity names", () => identified("fresh-0"), "Found: bootstrap demo-0"],
    [
      "a volume that was there before",
      () => founding().claim(2, { clusterId: null, memberId: null }),
      "Found holds: StaleVolumes data-demo-2",
    ],
    ["another directory than the identity names", () => identified("other"), "Freeze holds: QuorumLost demo"],
    [
      "a volume that has a member's data",
      () => identified("fresh-0").claim(0, { memberId: 10 }),
      "Freeze holds: NoLeader demo",
    ],
    ["a cluster that has been founded", () => new Scene(1), "nothing"],
  ]);

  table("RecreateBroken", [
    ["one that never started", () => stuck(new Scene(3).outdated(2), 2), "RecreateBroken: delete-pod demo-2"],
    ["with the present template", () => stuck(new Scene(3), 2), "nothing"],
    ["not yet for a minute", () => stuck(new Scene(3).outdated(2), 2, MINUTE_MS - 1), "Roll: evict demo-2"],
    [
      "one that the kubelet cannot keep up, at once and without a leader",
      () => crashing(new Scene(3).outdated(0, 1, 2).leaderless(0), 0, 1, 2),
      "RecreateBroken: delete-pod demo-0",
    ],
    ["one that the kubelet cannot keep up, with the present template", () => crashing(new Scene(3), 2), "nothing"],
    [
      "one that has failed, and runs again",
      () =>
        crashing(new Scene(3).outdated(0, 1, 2), 2)
          .pod(2, { stuck: false })
          .leaderless(0),
      "Freeze holds: NoLeader demo",
    ],
    [
      "one that runs, and has not opened its stores in time",
      () => stuck(new Scene(3).outdated(2), 2).pod(2, { runningSince: NOW - 11 * MINUTE_MS, notRunningSince: null }),
      "RecreateBroken: delete-pod demo-2",
    ],
    [
      "one that runs, and still has time",
      () =>
        stuck(new Scene(3).outdated(0, 1, 2), 2)
          .pod(2, { runningSince: NOW - 11 * MINUTE_MS + 1, notRunningSince: null })
          .leaderless(0),
      "Freeze holds: NoLeader demo",
    ],
    [
      "one that ran before, while nothing shows that the new template is better",
      () =>
        stuck(new Scene(3).outdated(0, 1, 2), 2)
          .pod(2, { everStarted: true })
          .leaderless(0),
      "Freeze holds: NoLeader demo",
    ],
    [
      "one that ran before, while a voter runs with the new template",
      () => stuck(new Scene(3).outdated(2), 2).pod(2, { everStarted: true }),
      "RecreateBroken: delete-pod demo-2",
    ],
    [
      "one that ran before, without a quorum of ready voters",
      () =>
        stuck(stuck(new Scene(3).outdated(0, 1, 2), 1), 2)
          .pod(1, { everStarted: true })
          .pod(2, { everStarted: true })
          .leaderless(MINUTE_MS),
      "RecreateBroken: delete-pod demo-1",
    ],
    [
      "at one member",
      () => stuck(new Scene(1).outdated(0), 0).leaderless(MINUTE_MS),
      "RecreateBroken: delete-pod demo-0",
    ],
    [
      "while the set's controller is behind",
      () => {
        const scene = stuck(new Scene(3).outdated(2), 2).leaderless(0);
        scene.set = scene.set && { ...scene.set, caughtUp: false };
        return scene;
      },
      "Freeze holds: NoLeader demo",
    ],
    [
      "one that is going already",
      () => stuck(new Scene(3).outdated(2), 2).pod(2, { terminating: true }),
      "Roll holds: MemberUnhealthy demo-2",
    ],
  ]);

  table("GrowSet", [
    ["a slot above the set", () => new Scene(5, 3).slot(4, { voter: false }), "GrowSet: scale-set demo-4"],
    ["a learner that is not wanted", () => new Scene(3).slot(4, { voter: false }), "CancelSlot: remove demo-4"],
    ["a voter that is not wanted", () => new Scene(3, 5).gone(4).scale(4), "GrowSet: scale-set demo-4"],
    [
      "scaled by hand below a quorum",
      () => new Scene(3).leaderless(0).gone(1).gone(2).scale(1),
      "GrowSet: scale-set demo-2",
    ],
    [
      "no member answers, and volumes that know",
      () => new Scene(3).configured({ members: [] }).leaderless(0).gone(0).gone(1).gone(2).scale(1),
      "GrowSet: scale-set demo-2",
    ],
  ]);

  table("Freeze", [
    ["no leader", () => new Scene(5, 3).leaderless(0), "Freeze holds: NoLeader demo"],
    [
      "a change under way",
      () => new Scene(5, 3).configured({ changing: true }),
      "Freeze holds: ConfigurationChanging demo",
    ],
    [
      "the data of a majority lost",
      () => lost(lost(new Scene(3), 1), 2).leaderless(0),
      "Freeze holds: QuorumLost demo",
    ],
  ]);

  it("Freeze: shows how the quorum was lost", () => {
    const message = (scene: Scene): string | undefined => plan(scene.observe()).blocker?.message;
    const majority = lost(lost(new Scene(3), 1), 2).leaderless(0);
    expect(message(majority)).to.contain("MajorityDataLost").and.contain("demo-1, demo-2");
    const refused = lost(new Scene(3), 1).report(2, { state: "MEMBER_REFUSED" }).leaderless(0);
    expect(message(refused)).to.contain("MajorityDataLost");
    const all = new Scene(3).emptyMember(0).emptyMember(1).emptyMember(2).configured({ members: [] }).leaderless(0);
    expect(message(all)).to.contain("AllDataLost");
    const unreachable = new Scene(3).silent(1).silent(2);
    expect(message(unreachable.leaderless(MINUTE_MS))).to.contain("MajorityUnreachable");
    expect(message(unreachable.leaderless(MINUTE_MS - 1))).to.equal("no leader has confirmed its quorum");
    expect(message(new Scene(3).leaderless(MINUTE_MS))).to.contain("NoLeaderElected");
    const readyElsewhere = new Scene(3).leaderless(MINUTE_MS);
    readyElsewhere.reports.clear();
    expect(message(readyElsewhere), "ready pods that only the operator cannot reach").to.contain("no leader");
  });

  table("CancelSlot", [
    ["claimed", () => new Scene(3).member(3, { voter: false }), "CancelSlot: remove demo-3"],
    [
      "unclaimed, before its pod is made",
      () => new Scene(3).slot(4, { voter: false }).unclaimed(4),
      "CancelSlot: remove demo-4",
    ],
    [
      "before a lost disk is replaced",
      () => lost(new Scene(3), 2).member(3, { voter: false }),
      "CancelSlot: remove demo-3",
    ],
  ]);

  table("ReplaceLost", [
    ["a voter", () => lost(new Scene(3), 2), "ReplaceLost: remove demo-2"],
    ["only just", () => lost(new Scene(3), 2).report(2, { stateForMs: 9_999 }), "nothing"],
    [
      "a voter, and another does not answer",
      () => lost(new Scene(3), 2).silent(1),
      "ReplaceLost holds: MemberDataLost demo-2",
    ],
    [
      "a learner, and a voter does not answer",
      () => lost(new Scene(5, 3).silent(1).member(3, { voter: false }).scale(4), 3),
      "ReplaceLost: remove demo-3",
    ],
    [
      "the directory that has the slot",
      () => lost(new Scene(3), 2).report(2, { incarnation: "incarnation-2" }),
      "nothing",
    ],
    [
      "data that is refused",
      () => new Scene(3).report(2, { state: "MEMBER_REFUSED" }),
      "ReplaceLost holds: MemberRefused demo-2",
    ],
    [
      "data that is refused, of a member that is not wanted",
      () => fiveToThree().report(4, { state: "MEMBER_REFUSED" }),
      "ScaleDown: remove demo-4; ReplaceLost holds: MemberRefused demo-4",
    ],
    ["no answer", () => new Scene(3).silent(2), "nothing"],
    ["data that mends itself", () => new Scene(3).report(2, { state: "MEMBER_DAMAGED" }), "nothing"],
  ]);

  const returned = (): Scene => new Scene(5, 5).noSlot(4).report(4, { state: "MEMBER_REMOVED" }).member(3);
  const retained = (): Scene =>
    returned().spec({ storage: { size: "8Gi", whenDeleted: "Retain", whenScaled: "Retain" } });
  table("RecycleVolume", [
    ["the data of a removed member", returned, "RecycleVolume: delete-claim data-demo-4"],
    ["its volume is going", () => returned().claim(4, { terminating: true }), "RecycleVolume: delete-pod demo-4"],
    [
      "its pod is going, too",
      () => returned().claim(4, { terminating: true }).pod(4, { terminating: true }),
      "AwaitLearner holds: WaitingForPod demo-4",
    ],
    ["volumes are kept", retained, "RecycleVolume holds: StaleVolume data-demo-4"],
    [
      "an id that is still to come",
      () => returned().report(4, { memberId: CONFIG_INDEX + 1 }),
      "AwaitLearner holds: WaitingForPod demo-4",
    ],
    [
      "a slot that a process has claimed",
      () => returned().slot(4, { voter: false, id: 90 }),
      "AwaitLearner holds: CatchingUp demo-4",
    ],
    [
      "a slot that no process has claimed",
      () => returned().slot(4, { voter: false, id: 90 }).unclaimed(4),
      "RecycleVolume: delete-claim data-demo-4",
    ],
  ]);

  table("ShrinkSet", [
    ["a pod without a slot", () => new Scene(3).scale(5), "ShrinkSet: scale-set demo-4"],
    ["a pod of a voter", () => fiveToThree().configured({ leaderId: idOf(1) }), "ScaleDown: remove demo-4, demo-3"],
    ["pods that are wanted", () => new Scene(5, 3).scale(5).emptyMember(3).emptyMember(4), "AddSlot: add-slot demo-3"],
  ]);

  table("DropClaim", [
    ["of a removed member", () => new Scene(3).claim(4), "DropClaim: delete-claim data-demo-4"],
    ["of another cluster", () => new Scene(3).claim(4, { ours: false }), "nothing"],
    ["whose pod is still there", () => new Scene(3).claim(4).pod(4), "nothing"],
    ["whose ordinal is a slot", () => new Scene(5, 3).slot(4, { voter: false }).claim(4), "GrowSet: scale-set demo-4"],
    ["that is going", () => new Scene(3).claim(4, { terminating: true }), "nothing"],
    [
      "while volumes are kept",
      () => new Scene(3).claim(4).spec({ storage: { size: "8Gi", whenDeleted: "Retain", whenScaled: "Retain" } }),
      "nothing",
    ],
  ]);

  const learning = (replicas: 3 | 5, voters: number, ...learners: number[]): Scene => {
    const scene = new Scene(replicas, voters).scale(replicas);
    for (const ordinal of learners) {
      scene.member(ordinal, { voter: false, promotable: true });
    }
    return scene;
  };
  table("Promote", [
    ["two that caught up", () => learning(3, 1, 1, 2), "Promote: promote demo-1, demo-2"],
    ["one of two", () => learning(3, 1, 1, 2).slot(2, { promotable: false }), "AwaitLearner holds: CatchingUp demo-2"],
    ["one, to make two voters three", () => learning(3, 2, 2), "Promote: promote demo-2"],
    ["two of four that are missing", () => learning(5, 1, 3, 1), "Promote: promote demo-1, demo-3"],
    ["the only one that is missing", () => learning(3, 2, 2).member(4).scale(5), "Promote: promote demo-2"],
    [
      "whose claim does not name it yet",
      () => learning(3, 2, 2).claim(2, { memberId: "none" }),
      "AwaitLearner holds: CatchingUp demo-2",
    ],
    [
      "while too few voters are healthy",
      () => learning(5, 3, 3, 4).silent(0).silent(1).silent(2),
      "AwaitLearner holds: CatchingUp demo-3",
    ],
    ["while one of three is not healthy", () => learning(5, 3, 3, 4).silent(2), "Promote: promote demo-3, demo-4"],
  ]);

  table("AddSlot", [
    ["before a pod is made", () => new Scene(3, 1), "AddSlot: add-slot demo-1"],
    ["the second of a pair", () => new Scene(3, 1).scale(2).member(1, { voter: false }), "AddSlot: add-slot demo-2"],
    [
      "no third at a time",
      () => learning(5, 1, 1, 2).slot(1, { promotable: false }),
      "AwaitLearner holds: CatchingUp demo-1",
    ],
    [
      "no second beside an even number",
      () => learning(5, 4).noSlot(2).noSlot(3).member(2, { voter: false }).emptyMember(3),
      "AwaitLearner holds: CatchingUp demo-2",
    ],
    ["for a process that lost its data", () => new Scene(3).noSlot(2).emptyMember(2), "AddSlot: add-slot demo-2"],
    ["not for one that still has data", () => new Scene(3).noSlot(2), "AwaitLearner holds: WaitingForPod demo-2"],
    [
      "not for a volume that must not be deleted",
      () => new Scene(3, 2).claim(2, { ours: false }),
      "AddSlot holds: StaleVolume data-demo-2",
    ],
    [
      "beside a volume that must not be deleted",
      () => new Scene(5, 3).claim(3, { ours: false }),
      "AddSlot: add-slot demo-4",
    ],
  ]);

  table("ScaleDown", [
    ["two of five", () => fiveToThree(), "ScaleDown: remove demo-4, demo-3"],
    ["two of three", () => new Scene(1, 3), "ScaleDown: remove demo-2, demo-1"],
    ["one of four", () => fiveToThree().noSlot(2).emptyMember(2), "AddSlot: add-slot demo-2"],
    ["one of four, while the third learns", () => fiveToThree().slot(2, { voter: false }), "ScaleDown: remove demo-4"],
    ["one of two", () => new Scene(1, 2), "ScaleDown: remove demo-1"],
    ["the leader", () => fiveToThree().configured({ leaderId: idOf(4) }), "ScaleDown: transfer demo-0"],
    ["the leader's pair", () => fiveToThree().configured({ leaderId: idOf(3) }), "ScaleDown: transfer demo-0"],
    [
      "the leader, to one that is updated",
      () =>
        fiveToThree()
          .configured({ leaderId: idOf(4) })
          .outdated(0, 1),
      "ScaleDown: transfer demo-2",
    ],
    [
      "the leader, to one that is less behind",
      () =>
        fiveToThree()
          .configured({ leaderId: idOf(4) })
          .slot(0, { lagMs: 5 }),
      "ScaleDown: transfer demo-1",
    ],
    ["a broken one first", () => fiveToThree().silent(3), "ScaleDown: remove demo-3"],
    ["while one that stays is broken", () => fiveToThree().silent(1), "ScaleDown holds: MemberUnhealthy demo-1"],
    [
      "while too many are broken",
      () => fiveToThree().silent(4).silent(3).silent(2),
      "ScaleDown holds: MemberUnhealthy demo-4",
    ],
    [
      "while no remaining member is healthy",
      () =>
        new Scene(1, 3)
          .configured({ leaderId: idOf(1) })
          .silent(0)
          .silent(2)
          .slot(2),
      "ScaleDown holds: MemberUnhealthy demo-2",
    ],
    [
      "a broken one, while the one that stays is broken",
      () =>
        new Scene(1, 5)
          .configured({ leaderId: idOf(1) })
          .silent(0)
          .silent(4),
      "ScaleDown holds: NoTransferTarget demo-4",
    ],
    ["one that is behind", () => fiveToThree().slot(4, { lagMs: 1_001 }), "ScaleDown: remove demo-4"],
    ["one without contact", () => fiveToThree().slot(3, { contactAgeMs: 2_001 }), "ScaleDown: remove demo-3"],
    ["before a roll", () => fiveToThree().outdated(0, 1, 2, 3, 4), "ScaleDown: remove demo-4, demo-3"],
    ["in the middle of a roll", () => fiveToThree().outdated(0, 1).gone(2), "ScaleDown holds: MemberUnhealthy demo-2"],
  ]);

  table("AwaitLearner", [
    [
      "no pod of the second, though the first has caught up",
      () => learning(3, 1, 1, 2).slot(2, { promotable: false }).unclaimed(2).gone(2),
      "AwaitLearner holds: WaitingForPod demo-2",
    ],
    ["no pod yet", () => new Scene(3).slot(2, { voter: false }).gone(2), "AwaitLearner holds: WaitingForPod demo-2"],
    [
      "a slot that no process has claimed",
      () => new Scene(3).slot(2, { voter: false }).unclaimed(2).emptyMember(2),
      "AwaitLearner holds: WaitingForClaim demo-2",
    ],
    ["a learner that is behind", () => new Scene(3).slot(2, { voter: false }), "AwaitLearner holds: CatchingUp demo-2"],
    [
      "before a roll",
      () => new Scene(3).slot(2, { voter: false }).outdated(0, 1, 2),
      "AwaitLearner holds: CatchingUp demo-2",
    ],
  ]);

  table("Roll", [
    ["followers from above", () => new Scene(3).outdated(0, 1, 2), "Roll: evict demo-2"],
    ["then the next", () => new Scene(3).outdated(0, 1), "Roll: evict demo-1"],
    ["the leader hands over first", () => new Scene(3).outdated(0), "Roll: transfer demo-1"],
    [
      "the leader is last",
      () => new Scene(3).outdated(0, 1, 2).configured({ leaderId: idOf(2) }),
      "Roll: evict demo-1",
    ],
    [
      "a leader that cannot hand over",
      () => new Scene(3).outdated(0).attempts({ failedTransfers: 3 }),
      "Roll: evict demo-0",
    ],
    [
      "a leader that has failed twice",
      () => new Scene(3).outdated(0).attempts({ failedTransfers: 2 }),
      "Roll: transfer demo-1",
    ],
    [
      "one that has just handed over",
      () =>
        new Scene(3)
          .outdated(0)
          .configured({ leaderId: idOf(1) })
          .attempts({ handover: { memberId: idOf(0), at: NOW - 2_999 } }),
      "Roll holds: HandedOver demo-0",
    ],
    [
      "one that has handed over before",
      () =>
        new Scene(3)
          .outdated(0)
          .configured({ leaderId: idOf(1) })
          .attempts({ handover: { memberId: idOf(0), at: NOW - 3_000 } }),
      "Roll: evict demo-0",
    ],
    [
      "another than has just handed over",
      () => new Scene(3).outdated(2).attempts({ handover: { memberId: idOf(1), at: NOW } }),
      "Roll: evict demo-2",
    ],
    ["a broken one first", () => new Scene(3).outdated(0, 1, 2).silent(1), "Roll: evict demo-1"],
    ["while another is broken", () => new Scene(3).outdated(0, 1).silent(2), "Roll holds: MemberUnhealthy demo-1"],
    [
      "while another has no node",
      () => new Scene(3).outdated(0, 1).pod(2, { scheduled: false }),
      "Roll holds: MemberUnhealthy demo-1",
    ],
    [
      "while another is going",
      () => new Scene(3).outdated(0, 1).pod(2, { terminating: true }),
      "Roll holds: MemberUnhealthy demo-1",
    ],
    ["while another is missing", () => new Scene(3).outdated(0, 1).gone(2), "Roll holds: MemberUnhealthy demo-1"],
    [
      "while another is not ready",
      () => new Scene(3).outdated(0, 1).pod(2, { readySince: null }),
      "Roll holds: MemberUnhealthy demo-1",
    ],
    [
      "while another is only just ready",
      () => new Scene(3).outdated(0, 1).pod(2, { readySince: NOW - 4_999 }),
      "Roll holds: MemberUnhealthy demo-1",
    ],
    ["at one member", () => new Scene(1).outdated(0), "Roll: evict demo-0"],
    ["at one member that is not ready", () => new Scene(1).outdated(0).silent(0), "Roll: evict demo-0"],
    ["two voters that lost the third", () => new Scene(1, 2).outdated(0, 1), "ScaleDown: remove demo-1"],
    [
      "by hand",
      () => new Scene(3).outdated(2).spec({ update: { mode: "Manual", soakSeconds: 5, startupBudgetSeconds: 600 } }),
      "Roll holds: ManualUpdate demo-2",
    ],
    [
      "by hand, and nothing to do",
      () => new Scene(3).spec({ update: { mode: "Manual", soakSeconds: 5, startupBudgetSeconds: 600 } }),
      "nothing",
    ],
    [
      "a revision that is not known yet",
      () => {
        const scene = new Scene(3);
        scene.set = scene.set && { ...scene.set, caughtUp: false };
        return scene;
      },
      "Roll holds: RevisionNotObserved demo",
    ],
    [
      "a template that others have changed",
      () => {
        const scene = new Scene(3).outdated(0, 1, 2);
        scene.set = scene.set && { ...scene.set, isOverwritten: true };
        return scene;
      },
      "Roll holds: RevisionNotObserved demo",
    ],
    [
      "an eviction that was just refused",
      () => new Scene(3).outdated(2).attempts({ refusedEviction: { podUid: "pod-2", at: NOW - 4_999 } }),
      "Roll holds: DisruptionBudget demo-2",
    ],
    [
      "an eviction that was refused before",
      () => new Scene(3).outdated(2).attempts({ refusedEviction: { podUid: "pod-2", at: NOW - 5_000 } }),
      "Roll: evict demo-2",
    ],
  ]);

  const pending = (ordinal: number, forMs: number): Scene =>
    new Scene(3).claim(ordinal, { resizePendingSince: NOW - forMs });
  table("ResizeRestart", [
    ["after five minutes", () => pending(1, 5 * MINUTE_MS), "ResizeRestart: evict demo-1"],
    ["not before", () => pending(1, 5 * MINUTE_MS - 1), "nothing"],
    ["the leader", () => pending(0, 5 * MINUTE_MS), "ResizeRestart: transfer demo-1"],
    [
      "while another is broken",
      () => pending(1, 5 * MINUTE_MS).silent(2),
      "ResizeRestart holds: MemberUnhealthy demo-1",
    ],
    ["after a roll", () => pending(1, 5 * MINUTE_MS).outdated(2), "Roll: evict demo-2"],
  ]);

  describe("names the version that each write is based on", () => {
    const action = (scene: Scene) => plan(scene.observe()).step?.action;
    it("the index of the configuration", () => {
      expect(action(fiveToThree())).to.deep.equal({ kind: "remove", ids: [14, 13], ifConfigIndex: CONFIG_INDEX });
      expect(action(new Scene(3, 1))).to.deep.equal({ kind: "add-slot", name: "demo-1", ifConfigIndex: CONFIG_INDEX });
      expect(action(learning(3, 1, 1, 2))).to.deep.equal({
        kind: "promote",
        ids: [11, 12],
        ifConfigIndex: CONFIG_INDEX,
      });
    });
    it("the term", () => {
      expect(action(new Scene(3).outdated(0))).to.deep.equal({ kind: "transfer", targetId: 11, ifTerm: 7 });
    });
    it("the version of the object", () => {
      expect(action(new Scene(3).scale(5))).to.deep.equal({ kind: "scale-set", replicas: 4, resourceVersion: "set-1" });
      const pod = { ordinal: 2, uid: "pod-2", resourceVersion: "pod-1" };
      expect(action(new Scene(3).outdated(2))).to.deep.equal({ kind: "evict", ...pod });
      const claim = { ordinal: 4, uid: "claim-4", resourceVersion: "claim-1" };
      expect(action(new Scene(3).claim(4))).to.deep.equal({ kind: "delete-claim", ...claim });
    });
  });

  it("counts majorities of one to seven voters, and how many a drain must leave", () => {
    const counts = [1, 2, 3, 4, 5, 6, 7];
    expect(counts.map(quorumOf)).to.deep.equal([1, 2, 2, 3, 3, 4, 4]);
    expect(counts.map((voters) => minAvailableOf(voters, voters))).to.deep.equal([null, 2, 2, 3, 4, 5, 6]);
    expect(minAvailableOf(3, 1), "before the others have come").to.equal(1);
    expect(minAvailableOf(1, 3), "before the others have gone").to.equal(2);
  });
});
