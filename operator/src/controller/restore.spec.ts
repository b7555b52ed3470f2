/**
 * A cluster that is founded from a backup: it waits for its source, shows what it waits for, and never comes up empty
 * instead.
 */
import { expect } from "chai";
import { BackupDrive, Drive, MemberRefusal } from "../../test/world/index.ts";
import type { ClusterSpec } from "../plan/index.ts";

const PASSES = 20;

describe("operator that founds a cluster from a backup", () => {
  let drive: Drive;
  let backups: BackupDrive;

  beforeEach(async () => {
    drive = new Drive();
    await drive.begin();
    backups = new BackupDrive(drive);
    await backups.begin();
  });

  afterEach(async () => {
    await backups.end();
    await drive.end();
  });

  const message = (): string => drive.status.conditions?.find(({ type }) => type === "Restored")?.message ?? "";
  const told = (): string[] => drive.operator.events.map(({ reason }) => reason);

  function create(restoreFrom: ClusterSpec["restoreFrom"]): void {
    drive.create({ replicas: 1, ...(restoreFrom === undefined ? {} : { restoreFrom }) });
  }

  async function createStore(name = "store"): Promise<void> {
    backups.create("CoordinationBackupStore", name, { s3: { bucket: "backups", pathStyle: false } });
    await backups.reconcile("CoordinationBackupStore", name);
  }

  function createBackup(name: string, status: object): void {
    const { store } = drive.world.api;
    backups.create("CoordinationBackup", name, { clusterName: "past", allowLeaderless: false });
    store.update("coordinationbackups", backups.get("CoordinationBackup", name), (copy) => {
      copy.status = { conditions: [], ...status };
    });
  }

  /** Whatever the operator waits for, it founds nothing meanwhile. */
  async function expectNothingFounded(): Promise<void> {
    for (let passes = 0; passes < PASSES; passes++) {
      await drive.operator.reconcile(drive.namespace, drive.name);
      drive.world.advance(2_000);
    }
    expect(drive.world.quorum.clusterId).to.equal(null);
  }

  it("creates no pod before the store exists, then gives members its flags, and reports what was restored", async () => {
    create({ storeName: "store", clusterId: "0f0e0d0c-0b0a-4908-8706-050403020100", toRevision: 77 });
    await expectNothingFounded();
    expect(drive.condition("Restored")).to.equal("False StoreNotFound");
    expect(message()).to.contain("create it, or change spec.restoreFrom.storeName");
    expect(drive.status.blocked).to.include({ gate: "Adopt", reason: "RestoreNotReady" });
    expect(drive.world.api.store.list("pods")).to.deep.equal([]);
    await createStore();
    await drive.converge("the restore");
    const flags = [
      "--restore-from=s3://backups/",
      "--restore-cluster-id=0f0e0d0c-0b0a-4908-8706-050403020100",
      "--restore-to-revision=77",
    ];
    expect(drive.condition("Restored")).to.equal("True Restored");
    expect(message()).to.equal(flags.join(" "));
    expect(told()).to.include.members(["StoreNotFound", "Founded", "Restored"]);
    // Now neither the deletion of the store nor a restarted process changes anything.
    const { store } = drive.world.api;
    const pod = store.get("pods", "default", "demo-0");
    store.remove("coordinationbackupstores", backups.get("CoordinationBackupStore", "store"));
    store.remove("pods", pod);
    await drive.converge("another process");
    expect(store.get("pods", "default", "demo-0").spec.containers[0].args).to.include.members(flags);
    expect([drive.condition("Restored"), message()]).to.deep.equal(["True Restored", flags.join(" ")]);
  }).timeout(60_000);

  it("begins with the snapshot of a backup that has succeeded, and is in that store", async () => {
    await createStore();
    create({ storeName: "store", backupName: "nightly" });
    await expectNothingFounded();
    expect(drive.condition("Restored")).to.equal("False BackupNotFound");
    createBackup("nightly", { phase: "Running", id: "a".repeat(32), store: "s3://backups/?region=eu-1" });
    await drive.until("a backup that runs", () => drive.condition("Restored") === "False BackupNotSucceeded");
    const { store } = drive.world.api;
    const change = (status: object): void => {
      store.update("coordinationbackups", backups.get("CoordinationBackup", "nightly"), (copy) => {
        Object.assign(copy.status, status);
      });
    };
    change({ phase: "Succeeded", store: "s3://elsewhere/" });
    await drive.until("another store", () => drive.condition("Restored") === "False BackupElsewhere");
    expect(drive.world.quorum.clusterId).to.equal(null);
    change({ store: "s3://backups/?region=eu-1" });
    await drive.converge("the restore");
    expect(message()).to.contain(`--restore-snapshot=${"a".repeat(32)}`);
  }).timeout(60_000);

  it("shows how far the member is, and why it founds nothing, and asks it again", async () => {
    const { world } = drive;
    await createStore();
    const pending = (code: "DEADLINE_EXCEEDED" | "FAILED_PRECONDITION", reason: string, alarm: string) => ({
      error: new MemberRefusal(code, reason),
      alarm,
    });
    world.restoreOf = () => pending("DEADLINE_EXCEEDED", "", "7 of 9 segments");
    create({ storeName: "store" });
    await drive.until("progress", () => message() === "7 of 9 segments");
    expect([drive.condition("Restored"), drive.status.blocked?.reason]).to.deep.equal(["False Restoring", "Restoring"]);
    expect(told()).to.not.include("Founded");
    await expectNothingFounded();
    expect(drive.condition("ReconcileSucceeded")).to.equal("True Succeeded");
    world.restoreOf = () => pending("FAILED_PRECONDITION", "BACKUP_REFUSED", "no key fits");
    await drive.until("a failure", () => drive.condition("Restored") === "False RestoreFails");
    expect(drive.status.blocked).to.include({ reason: "RestoreFails", target: "demo-0" });
    expect(told()).to.include("RestoreFails");
    await expectNothingFounded();
    world.restoreOf = () => null;
    await drive.converge("the restore");
    expect(drive.condition("Restored")).to.equal("True Restored");
  }).timeout(60_000);

  it("restarts a member that is empty when spec.restoreFrom changes", async () => {
    const { world } = drive;
    await createStore();
    world.restoreOf = (flags) =>
      flags.includes("--restore-to-revision=5")
        ? null
        : { error: new MemberRefusal("FAILED_PRECONDITION", "BACKUP_REFUSED"), alarm: "nothing reaches it" };
    create({ storeName: "store", toRevision: 4 });
    await drive.until("a failure", () => drive.condition("Restored") === "False RestoreFails");
    drive.edit({ spec: { restoreFrom: { toRevision: 5 } } });
    await drive.converge("the restore");
    expect(message()).to.contain("--restore-to-revision=5");
  }).timeout(60_000);

  it("leaves a cluster alone that has its data", async () => {
    await drive.founded(1);
    const { clusterId } = drive.world.quorum;
    drive.delete();
    create({ storeName: "store" });
    await drive.converge("the cluster again");
    expect(drive.world.quorum.clusterId).to.equal(clusterId);
    expect(drive.condition("Restored")).to.equal("Unknown AlreadyFounded");
  }).timeout(60_000);
});
