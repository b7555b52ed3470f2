import { expect } from "chai";
import { CLUSTER_ID, founding, idOf, NOW, Scene, table } from "../../test/index.ts";
import { plan } from "./planner.ts";
import {
  type ArchiveReport,
  choose,
  RECOVER_QUORUM,
  type RecoveryEnd,
  type RecoveryNote,
  type RecoveryPodView,
  type Surveyed,
} from "./recovery.ts";

const NEW_ID = "cluster-2";
const NEW_MEMBER = 501;
const OLDER_ID = "cluster-0";
/** The former cluster of the earlier recovery. */
const CALLED_OFF = { formerId: NEW_ID, clusterId: "cluster-3" } as const;

/** Two of three disks are lost. */
function lost(asked: string | null = CLUSTER_ID): Scene {
  const scene = new Scene(3).leaderless(0).emptyMember(1, "MEMBER_DATA_LOST").emptyMember(2, "MEMBER_DATA_LOST");
  scene.claim(1, { clusterId: null, memberId: null }).claim(2, { clusterId: null, memberId: null });
  return asking(scene, asked);
}

function asking(scene: Scene, asked: string | null): Scene {
  const annotations = asked === null ? {} : { [RECOVER_QUORUM]: asked };
  scene.cluster = { ...scene.cluster, metadata: { ...scene.cluster.metadata, annotations } };
  return scene;
}

function noted(scene: Scene, changes: Partial<RecoveryNote>, ...pods: RecoveryPodView[]): Scene {
  const note = {
    phase: "Surveying",
    formerId: CLUSTER_ID,
    clusterId: NEW_ID,
    startedAt: NOW,
    message: "x",
    ...changes,
  } as const;
  scene.rest = { ...scene.rest, recovery: { note, pods } };
  return scene;
}

/** All members are stopped. */
function stopped(scene: Scene): Scene {
  for (const ordinal of [0, 1, 2]) {
    scene.gone(ordinal);
  }
  return Object.assign(scene.scale(0), { known: { ...scene.known, members: [] } });
}

function podOn(ordinal: number, changes: Partial<RecoveryPodView> = {}): RecoveryPodView {
  return {
    ordinal,
    uid: `recovery-${ordinal}`,
    resourceVersion: "1",
    attempt: NEW_ID,
    stage: "survey" as const,
    terminating: false,
    waitsFor: null,
    end: null,
    ...changes,
  };
}

function surveyed(
  ordinal: number,
  report: Surveyed["report"] | RecoveryEnd["report"] = memberOf(ordinal),
): RecoveryPodView {
  return podOn(ordinal, { end: { exitCode: 0, at: NOW, report } });
}

function memberOf(ordinal: number, changes: object = {}): Surveyed["report"] {
  const voters = [0, 1, 2].map(idOf);
  const member = {
    clusterId: CLUSTER_ID,
    memberId: idOf(ordinal),
    lastIndex: 500,
    lastTerm: 7,
    commitIndex: 500,
    voters,
  };
  return { kind: "member", member: { ...member, outgoing: [], ...changes }, archive: null };
}

/** One survivor is surveyed, and the archive of its cluster. */
function archived(archive: ArchiveReport, asked = CLUSTER_ID, agoMs = 0): Scene {
  const report = withArchive(memberOf(0), archive);
  const pod = podOn(0, { end: { exitCode: 0, at: NOW - agoMs, report } });
  return noted(asking(stopped(lost()), asked), {}, pod, surveyed(1, NO_DATA), surveyed(2, NO_DATA));
}

function withArchive(report: Surveyed["report"], archive: ArchiveReport | null): Surveyed["report"] {
  return report.kind === "member" ? { ...report, archive } : report;
}

function archiveEnd(lastTerm: number, lastIndex: number): ArchiveReport {
  return { end: { lastIndex, lastTerm, revision: 42, wallMs: Date.UTC(2026, 0, 2) } };
}

const NO_DATA: Surveyed["report"] = {
  kind: "problem",
  problem: "/data belongs to no cluster yet. Start it",
  mayPass: false,
};
const SURVIVOR = { ordinal: 0, lastIndex: 500, lastTerm: 7, commitIndex: 500 };
const SUCCESSOR = { kind: "successor", clusterId: NEW_ID, memberId: NEW_MEMBER } as const;

function recovering(...pods: RecoveryPodView[]): Scene {
  return noted(stopped(lost()), { phase: "Recovering", survivor: SURVIVOR }, ...pods);
}

function recoveredPod(changes: Partial<RecoveryPodView> = {}): RecoveryPodView {
  return podOn(0, { stage: "recover", end: { exitCode: 0, at: NOW, report: SUCCESSOR }, ...changes });
}

function failedPod(exitCode: number, agoMs: number): RecoveryPodView {
  const report = { kind: "problem", problem: "no", mayPass: true } as const;
  return podOn(0, { stage: "recover", end: { exitCode, at: NOW - agoMs, report } });
}

/** The survivor leads the new cluster alone, and the member of an old volume has returned. */
function started(): Scene {
  const scene = new Scene(3, 1).configured({ index: NEW_MEMBER, leaderId: NEW_MEMBER });
  scene.identity = { clusterId: NEW_ID, founder: "-", founderIncarnation: "-" };
  scene.slot(0, { id: NEW_MEMBER }).claim(0, { clusterId: NEW_ID, memberId: NEW_MEMBER });
  scene.report(0, { clusterId: NEW_ID, memberId: NEW_MEMBER });
  scene.set = scene.set && { ...scene.set, configIndex: NEW_MEMBER };
  return noted(scene, { phase: "Finished", survivor: SURVIVOR });
}

function withFormer(scene: Scene, ordinal: number): Scene {
  scene.scale(ordinal + 1).pod(ordinal, { readySince: null, unreadySince: NOW, role: "none" });
  return scene.claim(ordinal, { ours: false }).report(ordinal, { state: "WRONG_CLUSTER" });
}

/** The same with data of the cluster that the former one was recovered from. */
function withOlder(scene: Scene, ordinal: number): Scene {
  return withFormer(scene, ordinal).claim(ordinal, { clusterId: OLDER_ID }).report(ordinal, { clusterId: OLDER_ID });
}

describe("recovery of a lost quorum", () => {
  table("begins", [
    ["not by itself", () => lost(null), "Freeze holds: QuorumLost demo"],
    ["with two of three disks lost", () => lost(), "RecoverQuorum: begin-recovery demo"],
    ["never for another cluster", () => lost("cluster-9"), "RecoverQuorum: end-recovery demo"],
    [
      "with the loss of writes accepted",
      () => lost(`${CLUSTER_ID}:lose-writes-after-9`),
      "RecoverQuorum: begin-recovery demo",
    ],
    ["never for a value of another form", () => lost(`${CLUSTER_ID}:9`), "RecoverQuorum: end-recovery demo"],
    ["never while a leader is there", () => asking(new Scene(3), CLUSTER_ID), "RecoverQuorum: end-recovery demo"],
    [
      "never while an election may bring a leader",
      () => asking(new Scene(3).leaderless(59_999), CLUSTER_ID),
      "Freeze holds: NoLeader demo",
    ],
    [
      "never while a majority runs that elects no leader",
      () => asking(new Scene(3).leaderless(60_000), CLUSTER_ID),
      "RecoverQuorum: end-recovery demo",
    ],
    [
      "with two of three members that do not answer for a minute",
      () => asking(new Scene(3).leaderless(60_000).silent(1).silent(2), CLUSTER_ID),
      "RecoverQuorum: begin-recovery demo",
    ],
    [
      "not before that minute is over",
      () => asking(new Scene(3).leaderless(59_999).silent(1).silent(2), CLUSTER_ID),
      "Freeze holds: NoLeader demo",
    ],
    ["never before the cluster is founded", () => asking(founding(), CLUSTER_ID), "Found: create-identity demo-0"],
  ]);

  table("stops the members and reads their volumes", [
    ["all that run", () => noted(lost(), {}), "RecoverQuorum: scale-set demo"],
    ["one that takes long", () => noted(lost().scale(0), {}), "RecoverQuorum holds: StoppingMembers demo-0"],
    ["stopped members", () => noted(stopped(lost()), {}), "RecoverQuorum: create-recovery-pod data-demo-0"],
    [
      "the next volume, while the first is read",
      () => noted(stopped(lost()), {}, podOn(0)),
      "RecoverQuorum: create-recovery-pod data-demo-1",
    ],
    [
      "a pod that an earlier recovery has left",
      () => noted(stopped(lost()), {}, podOn(0, { attempt: "cluster-0" })),
      "RecoverQuorum: delete-recovery-pod demo-0-recovery",
    ],
    [
      "volumes that are read",
      () => noted(stopped(lost()), {}, podOn(0), surveyed(1), podOn(2)),
      "RecoverQuorum holds: SurveyingVolumes demo-0-recovery",
    ],
    [
      "no volume that is given up",
      () => noted(stopped(lost()).claim(1, { terminating: true }).claim(2, { bound: false }), {}, podOn(0)),
      "RecoverQuorum holds: SurveyingVolumes demo-0-recovery",
    ],
    [
      "a disk that has just failed",
      () => noted(stopped(lost()), {}, surveyed(0, { ...NO_DATA, mayPass: true }), surveyed(1), surveyed(2)),
      "RecoverQuorum holds: RecoveryFails demo-0-recovery",
    ],
    [
      "a disk that failed a while ago",
      () => {
        const end = { exitCode: 71, at: NOW - 10_000, report: { ...NO_DATA, mayPass: true } };
        return noted(stopped(lost()), {}, podOn(0, { end }), surveyed(1), surveyed(2));
      },
      "RecoverQuorum: delete-recovery-pod demo-0-recovery",
    ],
    [
      "one survivor",
      () => noted(stopped(lost()), {}, surveyed(0), surveyed(1, NO_DATA), surveyed(2, NO_DATA)),
      "RecoverQuorum: note-recovery demo-0",
    ],
    [
      "a majority that has its data",
      () => noted(stopped(lost()), {}, surveyed(0), surveyed(1), surveyed(2, NO_DATA)),
      "RecoverQuorum: note-recovery demo",
    ],
    ["an annotation that is gone", () => noted(asking(stopped(lost()), null), {}), "RecoverQuorum: note-recovery demo"],
    [
      "one that is called off: pods first",
      () => noted(stopped(lost()), { phase: "CallingOff" }, surveyed(0), surveyed(1)),
      "RecoverQuorum: delete-recovery-pod demo-0-recovery",
    ],
    [
      "one that is called off, while a pod ends",
      () => noted(stopped(lost()), { phase: "CallingOff" }, podOn(0, { terminating: true })),
      "RecoverQuorum holds: RecoveringVolume demo-0-recovery",
    ],
    [
      "one that is called off",
      () => noted(stopped(lost()), { phase: "CallingOff" }),
      "RecoverQuorum: end-recovery demo",
    ],
  ]);

  describe("compares the survivor with the archive", () => {
    const noteOf = (scene: Scene): RecoveryNote | null => {
      const { action } = plan(scene.observe()).step ?? {};
      return action?.kind === "note-recovery" ? action.note : null;
    };
    const accepting = `${CLUSTER_ID}:lose-writes-after-500`;

    it("goes on where the archive has no more", () => {
      for (const archive of [archiveEnd(7, 500), archiveEnd(7, 499), archiveEnd(6, 499), { end: null }]) {
        expect(noteOf(archived(archive)), JSON.stringify(archive)).to.deep.include({
          phase: "Recovering",
          survivor: SURVIVOR,
        });
      }
      expect(noteOf(archived({ end: null }))?.message).to.contain("the store has no backup of this cluster");
      expect(noteOf(archived(archiveEnd(7, 499)))?.message).to.contain("the archive ends at index 499 of term 7");
    });

    it("refuses if the archive has more, and names both ends and the remedies", () => {
      for (const archive of [archiveEnd(7, 501), archiveEnd(8, 501), archiveEnd(8, 400)]) {
        expect(noteOf(archived(archive)), JSON.stringify(archive)).to.include({
          phase: "CallingOff",
          reason: "ArchiveIsFurther",
        });
      }
      expect(noteOf(archived(archiveEnd(7, 521)))?.message).to.equal(
        "the archive ends at index 521 of term 7 (revision 42, 2026-01-02T00:00:00.000Z), but demo-0, the member that has the " +
          "most, ends at index 500 of term 7: a recovery would lose acknowledged writes that the archive has. The members " +
          "start again with the data that they have. Restore the cluster from the archive, with spec.restoreFrom. Or accept " +
          `that loss: kubectl annotate qc demo --overwrite quoin.dev/recover-quorum=${accepting}`,
      );
    });

    it("goes on where a person accepts the loss, for the index of the survivor only", () => {
      for (const archive of [archiveEnd(7, 521), { problem: "no answer" }]) {
        expect(noteOf(archived(archive, accepting)), JSON.stringify(archive)).to.deep.include({
          phase: "Recovering",
          survivor: SURVIVOR,
        });
      }
      const other = noteOf(archived(archiveEnd(7, 521), `${CLUSTER_ID}:lose-writes-after-499`));
      expect(other).to.include({ phase: "CallingOff", reason: "OtherIndex" });
      expect(other?.message).to.contain("after index 499").and.to.contain(accepting);
    });

    it("waits for an archive that cannot be read, and says how to go on without it", () => {
      const { step, blocker } = plan(archived({ problem: "the store does not answer" }).observe());
      expect([step, blocker?.reason, blocker?.target]).to.deep.equal([null, "RecoveryFails", "demo-0-recovery"]);
      expect(blocker?.message).to.contain("the store does not answer").and.to.contain(accepting);
      // After a pause, another pod tries again.
      const later = plan(archived({ problem: "the store does not answer" }, CLUSTER_ID, 10_000).observe());
      expect(later.step?.action.kind).to.equal("delete-recovery-pod");
    });

    it("uses the archive report of one pod, even if the other pods could not read the archive", () => {
      const survivorOf = (...archives: (ArchiveReport | null)[]): unknown => {
        const members = archives.map((archive, ordinal) => ({
          ordinal,
          report: withArchive(memberOf(ordinal, { voters: [10, 11, 12, 13, 14, 15, 16] }), archive),
        }));
        const choice = choose(CLUSTER_ID, members);
        return choice.kind === "survivor" ? choice.archive : choice.kind;
      };
      const problem = { problem: "no" };
      expect(survivorOf(problem, archiveEnd(7, 3), archiveEnd(8, 1))).to.deep.equal(archiveEnd(8, 1));
      expect(survivorOf(problem, { end: null })).to.deep.equal({ end: null });
      expect(survivorOf(null, problem)).to.deep.equal(problem);
      expect(survivorOf(null, null)).to.equal(null);
    });
  });

  table("recovers the survivor's volume", [
    [
      "the pods that have read",
      () => recovering(surveyed(0), surveyed(1, NO_DATA)),
      "RecoverQuorum: delete-recovery-pod demo-0-recovery",
    ],
    [
      "a pod that goes",
      () => recovering(podOn(0, { terminating: true })),
      "RecoverQuorum holds: RecoveringVolume demo-0-recovery",
    ],
    ["no pod any more", () => recovering(), "RecoverQuorum: create-recovery-pod data-demo-0"],
    ["a set that was scaled by hand", () => recovering().scale(3), "RecoverQuorum: scale-set demo"],
    [
      "a pod that works",
      () => recovering(podOn(0, { stage: "recover" })),
      "RecoverQuorum holds: RecoveringVolume demo-0-recovery",
    ],
    ["a pod that failed", () => recovering(failedPod(71, 0)), "RecoverQuorum holds: RecoveryFails demo-0-recovery"],
    [
      "a pod that failed a while ago",
      () => recovering(failedPod(71, 10_000)),
      "RecoverQuorum: delete-recovery-pod demo-0-recovery",
    ],
    [
      "a pod that was refused, and the annotation is gone",
      () => asking(recovering(failedPod(73, 0)), null),
      "RecoverQuorum: note-recovery demo",
    ],
    [
      "a pod that may have done it, and the annotation is gone",
      () => asking(recovering(failedPod(71, 0)), null),
      "RecoverQuorum holds: RecoveryFails demo-0-recovery",
    ],
    ["what it has done: the claim", () => recovering(recoveredPod()), "RecoverQuorum: hand-over-claim data-demo-0"],
    [
      "what it has done: the identity",
      () => recovering(recoveredPod()).claim(0, { clusterId: NEW_ID, memberId: NEW_MEMBER, ours: false }),
      "RecoverQuorum: commit-recovery demo-0",
    ],
    [
      "a volume that someone else has recovered",
      () =>
        recovering(
          podOn(0, { stage: "recover", end: { exitCode: 0, at: NOW, report: { ...SUCCESSOR, clusterId: "x" } } }),
        ),
      "RecoverQuorum holds: RecoveryFails data-demo-0",
    ],
    [
      "a volume that is deleted",
      () => recovering().claim(0, { terminating: true }),
      "RecoverQuorum holds: RecoveryFails data-demo-0",
    ],
  ]);

  table("starts the new cluster", [
    [
      "pods that have done their work",
      () => noted(stopped(started()), { phase: "Starting", survivor: SURVIVOR }, recoveredPod()),
      "RecoverQuorum: delete-recovery-pod demo-0-recovery",
    ],
    [
      "with the pod of the survivor",
      () =>
        Object.assign(noted(stopped(started()), { phase: "Starting", survivor: SURVIVOR }), { configuration: null }),
      "GrowSet: scale-set demo-0",
    ],
    [
      "a leader",
      () => noted(withFormer(started(), 1), { phase: "Starting", survivor: SURVIVOR }),
      "RecoverQuorum: end-recovery demo",
    ],
    ["a volume of the former cluster", () => withFormer(started(), 1), "RecycleFormer: delete-claim data-demo-1"],
    [
      "a volume of the former cluster, after another recovery was refused",
      () => noted(withFormer(started(), 1), { phase: "Refused", reason: "QuorumLives", survivor: SURVIVOR }),
      "RecycleFormer: delete-claim data-demo-1",
    ],
    [
      "a volume of the cluster before the former one",
      () => noted(withOlder(started(), 1), { phase: "Finished", survivor: SURVIVOR, formerIds: [OLDER_ID] }),
      "RecycleFormer: delete-claim data-demo-1",
    ],
    [
      "a volume of the former cluster, after another recovery was called off",
      () => noted(withOlder(started(), 1), { phase: "CalledOff", ...CALLED_OFF, formerIds: [OLDER_ID] }),
      "RecycleFormer: delete-claim data-demo-1",
    ],
    [
      "no volume of the cluster itself, after its recovery was called off",
      () =>
        noted(withOlder(started(), 1).claim(1, { clusterId: NEW_ID }), { phase: "CalledOff", ...CALLED_OFF }).report(
          1,
          {
            clusterId: NEW_ID,
          },
        ),
      "AddSlot: add-slot demo-2",
    ],
    [
      "a volume that goes",
      () => withFormer(started(), 1).claim(1, { terminating: true }),
      "RecycleFormer: delete-pod demo-1",
    ],
    [
      "a volume of a member that is not wanted",
      () => started().claim(4, { ours: false }),
      "RecycleFormer: delete-claim data-demo-4",
    ],
    [
      "a volume that is to stay",
      () => withFormer(started(), 1).spec({ storage: { size: "8Gi", whenDeleted: "Retain", whenScaled: "Retain" } }),
      "AddSlot: add-slot demo-2; RecycleFormer holds: StaleVolume data-demo-1",
    ],
    [
      "no volume of another cluster",
      () => withFormer(started(), 1).claim(1, { clusterId: "cluster-9" }).report(1, { clusterId: "cluster-9" }),
      "AddSlot: add-slot demo-2",
    ],
    ["no volume without a leader", () => withFormer(started(), 1).leaderless(0), "Freeze holds: NoLeader demo"],
  ]);

  it("never gives up the volume of the survivor, whatever its claim says", () => {
    const scene = withFormer(started(), 1).claim(0, { clusterId: CLUSTER_ID, memberId: idOf(0), ours: false });
    const { step } = plan(scene.observe());
    expect(step?.target).to.equal("data-demo-1");
    expect(
      plan(scene.claim(1, { clusterId: NEW_ID }).report(1, { clusterId: NEW_ID }).observe()).step?.action.kind,
    ).to.not.equal("delete-claim");
  });

  describe("chooses", () => {
    const ends = (...logs: (readonly [term: number, index: number])[]): Surveyed[] =>
      logs.map(([lastTerm, lastIndex], ordinal) => ({
        ordinal,
        report: memberOf(ordinal, { lastTerm, lastIndex, voters: [10, 11, 12, 13, 14] }),
      }));
    const chosen = (logs: Surveyed[]): unknown => {
      const choice = choose(CLUSTER_ID, logs);
      return choice.kind === "survivor" ? choice.survivor.ordinal : choice.kind;
    };

    it("by the last term, then by the last index", () => {
      expect(chosen(ends([7, 500], [8, 400]))).to.equal(1);
      expect(chosen(ends([8, 400], [7, 500]))).to.equal(0);
      expect(chosen(ends([8, 400], [8, 401]))).to.equal(1);
      expect(chosen(ends([8, 401], [8, 400]))).to.equal(0);
    });

    it("no member while a majority of the voters is whole", () => {
      expect(chosen(ends([7, 1], [7, 1], [7, 1]))).to.equal("quorum");
    });

    it("among voters and those before them, while a change of them is under way: both must have a majority", () => {
      const joint = [0, 1].map((ordinal) => ({
        ordinal,
        report: memberOf(ordinal, { voters: [10, 11, 12], outgoing: [13, 14, 15] }),
      }));
      expect(chosen(joint)).to.equal(0);
    });

    it("nothing of another cluster, and nothing where there is no data", () => {
      expect(chosen([{ ordinal: 0, report: memberOf(0, { clusterId: "cluster-9" }) }])).to.equal("none");
      expect(chosen([{ ordinal: 0, report: NO_DATA }])).to.equal("none");
      expect(chosen([])).to.equal("none");
    });
  });
});
