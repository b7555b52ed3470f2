/**
 * A quorum is lost, and a person requests its recovery: the cluster continues from the most advanced member, even if
 * the operator crashes at any point. While a majority has its data, nothing is recovered.
 */
import { expect } from "chai";
import { BackupDrive, Drive } from "../../test/world/index.ts";
import { RECOVER_QUORUM, type RecoveryNote } from "../plan/index.ts";

const MEMBERS = ["demo-0", "demo-1", "demo-2"] as const;

describe("operator that recovers a lost quorum", () => {
  let drive: Drive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
    drive.create({ replicas: 3 });
    await drive.converge("founding of three");
  });

  afterEach(() => drive.end());

  const clusterId = (): string => drive.status.clusterId ?? "";
  const condition = (type: string) => drive.status.conditions?.find((each) => each.type === type);
  const annotation = (): string | undefined => drive.cluster.metadata.annotations?.[RECOVER_QUORUM];
  const told = (): string[] => drive.operator.events.map(({ reason }) => reason);

  function ask(id = clusterId()): void {
    drive.edit({ metadata: { annotations: { [RECOVER_QUORUM]: id } } });
  }

  function note(): RecoveryNote {
    const identity = drive.world.api.store.get("configmaps", "default", "demo-identity");
    return JSON.parse(identity.metadata.annotations["quoin.dev/recovery"]) as RecoveryNote;
  }

  async function loseQuorum(...lost: string[]): Promise<void> {
    for (const name of lost) {
      drive.world.loseDisk(name);
    }
    await drive.until("the loss to be noticed", () => drive.condition("QuorumLost").startsWith("True"));
  }

  /** The log of a stopped member ends here. */
  function endLog(name: string, term: number, index: number): void {
    const incarnation = drive.world.directoryOn(`data-${name}`)?.incarnation ?? "";
    drive.world.stoppedMembers.logEnds.set(incarnation, { term, index });
  }

  it("continues from the survivor, reports each step, and gets all its members back", async () => {
    const { world } = drive;
    const former = clusterId();
    const survivor = world.directoryOn("data-demo-1")?.incarnation;
    await loseQuorum("demo-0", "demo-2");
    expect(drive.status.phase).to.equal("QuorumLost");
    ask();
    await drive.until("the members to stop", () => drive.condition("QuorumRecovery") === "True Surveying");
    expect([drive.status.phase, drive.condition("QuorumLost")]).to.deep.equal(["Recovering", "True RecoveryUnderWay"]);
    await drive.converge("the recovery");
    expect(world.stoppedMembers.recovered).to.deep.equal([{ clusterId: clusterId(), from: survivor }]);
    expect(clusterId()).to.not.equal(former);
    expect(annotation()).to.equal(undefined);
    expect(drive.condition("QuorumRecovery")).to.equal("False Finished");
    expect(drive.condition("QuorumLost")).to.equal("False QuorumNotLost");
    expect(world.quorum.slots.map(({ name, voter }) => [name, voter])).to.have.deep.members(
      MEMBERS.map((name) => [name, true]),
    );
    expect(note()).to.include({ phase: "Finished", formerId: former, clusterId: clusterId() });
    expect(told()).to.include.members([
      "RecoveryStarted",
      "MembersStopped",
      "VolumeSurveyed",
      "SurvivorChosen",
      "VolumeRecovered",
      "QuorumRecovered",
      "RecoveryFinished",
    ]);
    const chosen = drive.operator.events.find(({ reason }) => reason === "SurvivorChosen")?.note;
    expect(chosen).to.contain("demo-1 is the survivor").and.to.contain("demo-0: /data belongs to no cluster yet");
    expect(world.api.store.list("pods").map(({ metadata }) => metadata.name)).to.have.members([...MEMBERS]);
  }).timeout(60_000);

  it("chooses the greatest last term, then the greatest last index, and gives the other volumes up at the end", async () => {
    drive.edit({ spec: { replicas: 5 } });
    await drive.converge("to five");
    const [second, fourth] = ["data-demo-1", "data-demo-3"].map((name) => drive.world.directoryOn(name)?.incarnation);
    await loseQuorum("demo-0", "demo-2", "demo-4");
    endLog("demo-1", 9, 5_000);
    endLog("demo-3", 10, 4_000);
    ask();
    let kept = true;
    await drive.until("the survivor to be chosen", () => note().phase === "Recovering");
    expect(note().survivor).to.include({ ordinal: 3, lastTerm: 10, lastIndex: 4_000 });
    await drive.until("a leader", () => {
      const isLed = drive.condition("Available") === "True QuorumConfirmed";
      kept &&= isLed || drive.world.directoryOn("data-demo-1")?.incarnation === second;
      return isLed;
    });
    expect(kept, "no volume is given up before the new cluster has a leader").to.equal(true);
    await drive.converge("the recovery");
    expect(drive.world.stoppedMembers.recovered.map(({ from }) => from)).to.deep.equal([fourth]);
    expect(told()).to.include("FormerVolumeDeleted");
  }).timeout(60_000);

  it("recovers once, whenever it crashes", async () => {
    const { world } = drive;
    await loseQuorum("demo-0", "demo-2");
    ask();
    const begun = world.writes.length;
    await drive.until("the end", () => note().phase === "Finished");
    const count = world.writes.length - begun;
    await drive.converge("the recovery");
    for (let writes = 1; writes <= count; writes++) {
      await loseQuorum("demo-0", "demo-2");
      const survivor = world.directoryOn("data-demo-1")?.incarnation;
      const before = world.stoppedMembers.recovered.length;
      ask();
      world.crashAfter(writes);
      const crashed = await drive.converge(`recovery, crash after write ${writes}`);
      world.revive();
      const recovered = world.stoppedMembers.recovered.slice(before);
      expect(recovered, `crash after write ${writes}`).to.deep.equal([{ clusterId: clusterId(), from: survivor }]);
      expect(annotation()).to.equal(undefined);
      expect(crashed).to.equal(true);
    }
    expect(count).to.be.greaterThan(20);
  }).timeout(240_000);

  it("refuses while a leader exists, and removes the request", async () => {
    ask();
    await drive.until("a refusal", () => annotation() === undefined);
    await drive.converge("nothing");
    expect(drive.condition("QuorumRecovery")).to.equal("False QuorumLives");
    expect(condition("QuorumRecovery")?.message).to.contain("nothing was changed");
    expect(told()).to.include("RecoveryRefused");
    await loseQuorum("demo-0", "demo-2");
    drive.world.advance(120_000);
    await drive.operator.reconcile(drive.namespace, drive.name);
    expect(drive.world.stoppedMembers.recovered).to.deep.equal([]);
    expect(drive.condition("QuorumLost")).to.equal("True MajorityDataLost");
  }).timeout(60_000);

  it("refuses another cluster's id, and a cluster without any data left", async () => {
    await loseQuorum("demo-0", "demo-2");
    ask("11111111-2222-4333-8444-555555555555");
    await drive.until(
      "a refusal",
      () => annotation() === undefined && drive.condition("QuorumRecovery") === "False OtherCluster",
    );
    expect(condition("QuorumRecovery")?.message).to.contain(clusterId());
    drive.world.loseDisk("demo-1");
    await drive.until("all to be lost", () => drive.condition("QuorumLost") === "True AllDataLost");
    ask();
    await drive.until("a refusal", () => drive.condition("QuorumRecovery") === "False NothingToRecover");
    expect(condition("QuorumRecovery")?.message).to.contain("spec.restoreFrom");
    expect(drive.world.stoppedMembers.recovered).to.deep.equal([]);
  }).timeout(60_000);

  it("calls it off when the volumes of a majority are whole, and when the annotation is removed", async () => {
    const { world } = drive;
    // The processes of two members cannot start, as if their nodes were lost.
    world.refusalOf = (kind, { metadata }) =>
      kind === "node" && ["demo-0", "demo-2"].includes(metadata.name) ? "no node is there" : null;
    for (const name of ["demo-0", "demo-2"]) {
      world.api.store.remove("pods", world.api.store.get("pods", "default", name));
    }
    await drive.until("the loss to be noticed", () => drive.condition("QuorumLost") === "True MajorityUnreachable");
    ask();
    await drive.until("the majority to be found", () => drive.condition("QuorumRecovery") === "False QuorumLives");
    expect(condition("QuorumRecovery")?.message).to.contain("3 of 3 voters have their data");
    world.refusalOf = () => null;
    await drive.converge("its members again");
    expect(world.stoppedMembers.recovered).to.deep.equal([]);

    await loseQuorum("demo-0", "demo-2");
    world.refusalOf = (kind, { metadata }) =>
      kind === "node" && metadata.name === "demo-2-recovery" ? "its node is gone" : null;
    ask();
    await drive.until("a volume that cannot be read", () => drive.status.blocked?.reason === "SurveyingVolumes");
    expect(drive.status.blocked?.message).to.contain("its node is gone").and.to.contain("delete pvc data-demo-2");
    drive.edit({ metadata: { annotations: { [RECOVER_QUORUM]: null } } });
    await drive.until("the members to start again", () => drive.condition("QuorumRecovery") === "False Cancelled");
    await drive.until("the pods", () => world.api.store.list("pods").length === 3);
    expect(world.stoppedMembers.recovered).to.deep.equal([]);
    expect(world.directoryOn("data-demo-1")?.memberId).to.not.equal(null);
  }).timeout(60_000);

  it("gives up the volumes of all clusters that the present one came from, once it may", async () => {
    const { world } = drive;
    const storage = { size: "8Gi", whenDeleted: "Retain", whenScaled: "Retain" } as const;
    drive.edit({ spec: { replicas: 5, storage } });
    await drive.converge("to five");
    const first = clusterId();
    await loseQuorum("demo-0", "demo-2", "demo-4");
    endLog("demo-3", 10, 4_000);
    ask();
    await drive.until("three members", () => drive.status.voters === 3 && drive.status.blocked !== undefined);
    const second = clusterId();
    await loseQuorum("demo-0", "demo-2");
    endLog("demo-3", 20, 8_000);
    ask();
    await drive.until("the end", () => note().phase === "Finished" && note().formerId === second);
    await drive.until("a person to be asked", () => drive.status.blocked?.reason === "StaleVolume");
    expect(note().formerIds).to.deep.equal([first]);
    expect(drive.status.blocked).to.include({ target: "data-demo-1" });
    expect(drive.status.blocked?.message).to.contain(first).and.to.contain("kubectl delete pvc data-demo-1");
    expect(world.directoryOn("data-demo-1")?.clusterId).to.equal(first);

    drive.edit({ spec: { storage: { ...storage, whenScaled: "Delete" } } });
    await drive.converge("all members again");
    const deleted = drive.operator.events
      .filter(({ reason }) => reason === "FormerVolumeDeleted")
      .map(({ note }) => note);
    expect(deleted.join("\n")).to.contain(`data-demo-1 has data of cluster ${first}`).and.to.contain(clusterId());
  }).timeout(60_000);

  describe("with an archive", () => {
    let backups: BackupDrive;

    beforeEach(async () => {
      backups = new BackupDrive(drive);
      await backups.begin();
      backups.create("CoordinationBackupStore", "store", { s3: { bucket: "backups", pathStyle: false } });
      await backups.reconcile("CoordinationBackupStore", "store");
      drive.edit({ spec: { backup: { storeName: "store", archive: true, interval: "24h" } } });
      await drive.converge("members with a store");
      await loseQuorum("demo-0", "demo-2");
      endLog("demo-1", 4, 500);
    });

    afterEach(() => backups.end());

    it("refuses to lose archived writes, shows how to restore them, and recovers once the loss is accepted", async () => {
      const { world } = drive;
      world.stoppedMembers.archive = { end: { lastIndex: 521, lastTerm: 4, revision: 77, wallMs: world.now } };
      ask();
      await drive.until("a refusal", () => drive.condition("QuorumRecovery") === "False ArchiveIsFurther");
      const { message = "" } = condition("QuorumRecovery") ?? {};
      expect(message).to.contain("index 521 of term 4").and.to.contain("demo-1").and.to.contain("index 500 of term 4");
      expect(message).to.contain("spec.restoreFrom");
      expect(drive.operator.events.find(({ reason }) => reason === "RecoveryCalledOff")?.note).to.equal(message);
      expect(annotation()).to.equal(undefined);
      await drive.until("the members to start again", () => world.api.store.list("pods").length === MEMBERS.length);
      expect(world.stoppedMembers.recovered).to.deep.equal([]);

      const [, value = ""] = /quoin\.dev\/recover-quorum=(\S+)$/.exec(message) ?? [];
      await drive.until("the loss to be noticed", () => drive.condition("QuorumLost").startsWith("True"));
      ask(value);
      await drive.converge("the recovery");
      expect(world.stoppedMembers.recovered).to.have.lengthOf(1);
      const chosen = drive.operator.events.find(({ reason }) => reason === "SurvivorChosen")?.note;
      expect(chosen).to.contain("the archive ends at index 521 of term 4");
    }).timeout(60_000);

    it("waits for an archive that cannot be read, and goes on when it can", async () => {
      const { world } = drive;
      world.stoppedMembers.archive = { problem: "the bucket backups does not answer" };
      ask();
      await drive.until("the failure", () => drive.status.blocked?.reason === "RecoveryFails");
      expect(drive.status.blocked?.message).to.contain("does not answer").and.to.contain("lose-writes-after-500");
      world.stoppedMembers.archive = { end: { lastIndex: 500, lastTerm: 4, revision: 77, wallMs: world.now } };
      await drive.converge("the recovery");
      expect(world.stoppedMembers.recovered).to.have.lengthOf(1);
    }).timeout(60_000);
  });

  it("retries failures, and shows the cause", async () => {
    const { world } = drive;
    await loseQuorum("demo-0", "demo-2");
    const problem = "the disk of /data has failed";
    world.stoppedMembers.failureOf = ({ spec }) =>
      spec.containers[0].args.includes("--compare") ? null : { exitCode: 71, message: JSON.stringify({ problem }) };
    ask();
    await drive.until("the failure", () => drive.status.blocked?.reason === "RecoveryFails");
    expect(drive.status.blocked).to.include({ message: problem, target: "demo-1-recovery" });
    expect(condition("QuorumRecovery")).to.include({ status: "True", reason: "Recovering", message: problem });
    world.stoppedMembers.failureOf = () => null;
    await drive.converge("the recovery");
    expect(world.stoppedMembers.recovered).to.have.lengthOf(1);
  }).timeout(60_000);
});
