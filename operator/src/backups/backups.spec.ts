/**
 * Stores, backups and schedules with an API server and members in memory, and a cluster whose members get the store.
 */
import { randomBytes } from "node:crypto";
import { BackupPhase } from "@quoin/proto";
import { expect } from "chai";
import type { Any } from "../../test/api-server/index.ts";
import { BackupDrive, Drive, MemberRefusal } from "../../test/world/index.ts";

const STORE = "CoordinationBackupStore";
const BACKUP = "CoordinationBackup";
const SCHEDULE = "CoordinationBackupSchedule";
const BUCKET = { s3: { bucket: "backups", pathStyle: false }, encryption: { keysSecretRef: { name: "keys" } } };
const WANTED = { storeName: "store", archive: true, interval: "24h" };
const HOUR_MS = 3_600_000;

describe("backups on Kubernetes", () => {
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

  function secret(name: string, data: Record<string, string>): void {
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    drive.world.api.store.create("secrets", "default", { metadata: { name }, data: Object.fromEntries(encoded) });
  }

  function keys(): void {
    secret("keys", { keys: `first:${randomBytes(32).toString("base64")}\n` });
  }

  function conditionOf(object: Any, type: string): string {
    const found = object.status?.conditions?.find((each: Any) => each.type === type);
    return `${found?.status} ${found?.reason}`;
  }

  async function storeIsUsable(): Promise<void> {
    keys();
    backups.create(STORE, "store", BUCKET);
    await backups.until("a store", () => conditionOf(backups.get(STORE, "store"), "Ready") === "True Usable");
  }

  /** A cluster whose members have the store. */
  async function founded(replicas: 1 | 3 = 1): Promise<void> {
    await storeIsUsable();
    drive.create({ replicas, backup: WANTED });
    await drive.converge("founding");
  }

  function argumentsOf(): string[] {
    return drive.world.api.store.get("statefulsets", "default", "demo").spec.template.spec.containers[0].args;
  }

  function phaseOf(name: string): string {
    return backups.get(BACKUP, name).status?.phase;
  }

  async function running(name = "now"): Promise<void> {
    backups.create(BACKUP, name, { clusterName: "demo", allowLeaderless: false });
    await backups.until("running", () => phaseOf(name) === "Running");
  }

  describe("store", () => {
    async function problem(spec: object): Promise<string> {
      backups.create(STORE, "store", spec);
      await backups.reconcile(STORE, "store");
      const { status } = backups.get(STORE, "store");
      const [ready] = status.conditions;
      expect([ready.type, ready.status]).to.deep.equal(["Ready", "False"]);
      expect(backups.events.map(({ reason }) => reason)).to.deep.equal([ready.reason]);
      return `${ready.reason}: ${ready.message}`;
    }

    const credentialsSecretRef = { name: "credentials" };
    const s3 = { bucket: "backups", pathStyle: false };

    it("is unusable while a Secret is missing, and usable as soon as it exists", async () => {
      expect(await problem(BUCKET)).to.match(/^SecretMissing: spec\.encryption\.keysSecretRef: .* keys: create it/);
      keys();
      await backups.until("usable", () => conditionOf(backups.get(STORE, "store"), "Ready") === "True Usable");
      expect(backups.get(STORE, "store").status).to.include({ location: "s3://backups/", encrypted: true });
    });

    it("wants keys in a Secret, and of 32 bytes, and never repeats one", async () => {
      secret("keys", { key: "x" });
      expect(await problem(BUCKET)).to.match(/^SecretIncomplete: .*has no keys/);
    });

    it("refuses a malformed key without repeating it", async () => {
      secret("keys", { keys: "first:c2VjcmV0" });
      expect(await problem(BUCKET))
        .to.match(/^KeyMalformed: line 1 of keys of Secret keys/)
        .and.not.contain("c2Vj");
    });

    it("wants credentials in the form of AWS", async () => {
      secret("credentials", { credentials: "[default]\naws_access_key_id = a\naws_secret_access_key =\n" });
      const found = await problem({ s3: { ...s3, credentialsSecretRef } });
      expect(found).to.match(/^CredentialsMalformed: .* has no aws_secret_access_key/);
    });

    it("wants a certificate as authority", async () => {
      secret("ca", { "ca.crt": "no certificate" });
      expect(await problem({ s3: { ...s3, caSecretRef: { name: "ca" } } })).to.match(
        /^CaMalformed: ca.crt of Secret ca/,
      );
    });

    it("wants the claim of a directory", async () => {
      expect(await problem({ directory: { claimName: "backups" } })).to.match(/^ClaimMissing: .*claimName: .* backups/);
    });

    it("says that it may not read a Secret", async () => {
      drive.world.api.before = ({ plural }) =>
        plural === "secrets" ? { status: 403, body: '{"kind":"Status","reason":"Forbidden"}' } : null;
      expect(await problem(BUCKET)).to.match(/^SecretUnreadable: /);
    });
  });

  describe("cluster", () => {
    it("gives members the store when it is usable, by restarting them one by one", async () => {
      drive.create({ replicas: 3, backup: WANTED });
      await drive.converge("without a store that is there");
      expect(drive.condition("BackupHealthy")).to.equal("False StoreNotFound");
      expect(argumentsOf().join()).to.not.contain("--backup-store");
      await storeIsUsable();
      await drive.until("the store in force", () => argumentsOf().includes("--backup-store=s3://backups/"));
      await drive.converge("with the store");
      await drive.until("told", () => drive.status.backup?.store === "s3://backups/");
      await drive.until("no archiver yet", () => drive.condition("ArchiveHealthy") === "Unknown NoArchiver");
    });

    it("shows how far the archive is, and when it lags", async () => {
      await founded();
      const archive = {
        enabled: true,
        archiverId: "1",
        archivedIndex: 9,
        archivedRevision: 7,
        lastSuccessMs: drive.world.now,
      };
      drive.world.backups.archive = { ...archive, archivedWallMs: drive.world.now };
      await drive.until("archiving", () => drive.condition("ArchiveHealthy") === "True Archiving");
      expect(drive.condition("BackupHealthy")).to.equal("True BackupSucceeded");
      expect(drive.status.backup).to.deep.include({ archivedRevision: 7, archiver: "1", encrypted: true });
      drive.world.backups.archive = { ...archive, lagMs: 90_000, lastError: "access denied", failures: 2 };
      await drive.until("behind", () => drive.condition("ArchiveHealthy") === "False ArchiveBehind");
      expect(drive.condition("BackupHealthy")).to.equal("False StoreFails");
      expect(drive.condition("Ready"), "backups that fail change nothing else").to.equal("True AsAsked");
      expect(drive.operator.events.map(({ reason }) => reason)).to.include.members(["ArchiveBehind", "StoreFails"]);
    });

    it("keeps the store that its members have when the object is gone, and restarts no member for it", async () => {
      await founded();
      const { store } = drive.world.api;
      const [before] = store.list("pods");
      store.drop("coordinationbackupstores", store.get("coordinationbackupstores", "default", "store"));
      await drive.until("told", () => drive.condition("BackupHealthy") === "False StoreNotFound");
      await drive.converge("still there");
      expect(argumentsOf()).to.include("--backup-store=s3://backups/");
      expect(store.list("pods")[0]?.metadata.uid).to.equal(before?.metadata.uid);
    });

    it("removes the store from its members when the specification no longer names it", async () => {
      await founded();
      drive.edit({ spec: { backup: null } });
      await drive.until("no store", () => !argumentsOf().join().includes("--backup-store"));
      await drive.converge("without");
      expect(drive.status.conditions?.map(({ type }) => type)).to.not.include("BackupHealthy");
      expect(drive.status).to.not.have.property("backup");
    });
  });

  describe("backup", () => {
    it("is taken by a follower, and its status shows the progress", async () => {
      await founded(3);
      await running();
      const { quorum } = drive.world;
      const leader = quorum.slots.find(({ id }) => id === quorum.leaderId)?.name;
      expect(backups.get(BACKUP, "now").status.member).to.not.equal(leader);
      drive.world.backups.succeed();
      await backups.until("succeeded", () => phaseOf("now") === "Succeeded");
      const [run] = drive.world.backups.runs;
      const { status, metadata } = backups.get(BACKUP, "now");
      expect(status).to.deep.include({ id: run?.id, object: `${run?.id}.qsnap`, revision: 7, index: 9, sizeBytes: 99 });
      expect(status).to.include.keys("startedAt", "completedAt", "wallTime");
      expect(run?.requestId).to.equal(metadata.uid);
      expect(conditionOf({ status }, "Complete")).to.equal("True BackupSucceeded");
      expect(backups.events.map(({ reason }) => reason)).to.deep.equal(["BackupStarted", "BackupSucceeded"]);
      expect(await backups.reconcile(BACKUP, "now")).to.equal(null);
    });

    it("is begun once, whenever the operator crashes", async () => {
      await founded(3);
      let writes = 1;
      for (; ; writes++) {
        const name = `crash-${writes}`;
        const before = backups.crashes;
        backups.create(BACKUP, name, { clusterName: "demo", allowLeaderless: false });
        drive.world.crashAfter(writes);
        await backups.until("begun", () => phaseOf(name) === "Running");
        drive.world.backups.succeed();
        await backups.until("ended", () => phaseOf(name) === "Succeeded");
        drive.world.revive();
        const { uid } = backups.get(BACKUP, name).metadata;
        expect(drive.world.backups.runs.filter(({ requestId }) => requestId === uid)).to.have.length(1);
        if (backups.crashes === before) {
          break;
        }
      }
      expect(writes).to.be.greaterThan(4);
    }).timeout(120_000);

    it("goes on through an API server that fails", async () => {
      await founded();
      let asked = 0;
      drive.world.api.before = () => (++asked % 17 === 0 ? { status: 500 } : null);
      await running();
      drive.world.backups.succeed();
      await backups.until("succeeded", () => phaseOf("now") === "Succeeded");
      expect(drive.world.backups.runs).to.have.length(1);
    });

    it("stays failed, with the reason of the member", async () => {
      await founded();
      await running();
      drive.world.backups.fail("the bucket is full: free space, and take another backup");
      await backups.until("failed", () => phaseOf("now") === "Failed");
      expect(backups.get(BACKUP, "now").status.error).to.match(/^the bucket is full/);
      expect(backups.events.at(-1)).to.include({ type: "Warning", reason: "BackupFailed" });
      expect(await backups.reconcile(BACKUP, "now")).to.equal(null);
    });

    it("fails when its member was restarted, unless the store has it", async () => {
      await founded();
      for (const isStored of [false, true]) {
        const name = `stored-${isStored}`;
        await running(name);
        const { id, memberUid } = backups.get(BACKUP, name).status;
        if (isStored) {
          drive.world.backups.stored.add(id);
        }
        drive.world.backups.restart(memberUid);
        await backups.until("ended", () => ["Succeeded", "Failed"].includes(phaseOf(name)));
        const { phase, error = "" } = backups.get(BACKUP, name).status;
        expect([phase, error.includes("create another")]).to.deep.equal(
          isStored ? ["Succeeded", false] : ["Failed", true],
        );
      }
    });

    const refusals: readonly [code: "FAILED_PRECONDITION" | "UNAVAILABLE", reason: string, told: string][] = [
      ["UNAVAILABLE", "NO_LEADER", "NoLeader"],
      ["FAILED_PRECONDITION", "BACKUP_IN_PROGRESS", "BackupInProgress"],
      ["FAILED_PRECONDITION", "OTHER_BACKUP_STORE", "StoreNotInForce"],
    ];
    for (const [code, reason, told] of refusals) {
      it(`waits while the member answers ${reason}, and begins when it does not`, async () => {
        await founded();
        drive.world.backups.refusal = new MemberRefusal(code, reason);
        backups.create(BACKUP, "now", { clusterName: "demo", allowLeaderless: false });
        await backups.until("told", () => conditionOf(backups.get(BACKUP, "now"), "Complete") === `False ${told}`);
        expect(phaseOf("now")).to.equal("Pending");
        drive.world.backups.refusal = null;
        await backups.until("begun", () => phaseOf("now") === "Running");
      });
    }

    it("gives up after ten minutes, and names what it waited for", async () => {
      backups.create(BACKUP, "now", { clusterName: "nowhere", allowLeaderless: false });
      await backups.reconcile(BACKUP, "now");
      expect(conditionOf(backups.get(BACKUP, "now"), "Complete")).to.equal("False ClusterNotFound");
      drive.world.advance(600_000);
      await backups.until("failed", () => phaseOf("now") === "Failed");
      expect(backups.get(BACKUP, "now").status.error).to.match(
        /^given up after 10 minutes: .*nowhere.*; create another/,
      );
    });

    it("is not taken of a cluster without a store", async () => {
      await drive.founded(1);
      backups.create(BACKUP, "now", { clusterName: "demo", allowLeaderless: false });
      await backups.reconcile(BACKUP, "now");
      expect(conditionOf(backups.get(BACKUP, "now"), "Complete")).to.equal("False NoStore");
    });

    it("is left alone by an operator that does not hold the Lease", async () => {
      await founded();
      backups.mayWrite = false;
      backups.create(BACKUP, "now", { clusterName: "demo", allowLeaderless: false });
      await backups.reconcile(BACKUP, "now");
      expect(backups.get(BACKUP, "now")).to.not.have.property("status");
    });
  });

  describe("schedule", () => {
    const SPEC = {
      clusterName: "demo",
      schedule: "0 * * * *",
      timeZone: "Etc/UTC",
      suspend: false,
      concurrencyPolicy: "Forbid",
      successfulHistoryLimit: 2,
      failedHistoryLimit: 1,
    };

    function names(): string[] {
      return backups.list(BACKUP).map(({ metadata }) => metadata.name);
    }

    function nameAt(ms: number): string {
      return `hourly-${ms / 60_000}`;
    }

    async function pass(): Promise<number | null> {
      return await backups.reconcile(SCHEDULE, "hourly");
    }

    /** An object as the backup controller leaves it. */
    function end(name: string, phase: "Succeeded" | "Failed"): void {
      const { store } = drive.world.api;
      store.update("coordinationbackups", store.get("coordinationbackups", "default", name), (copy) => {
        copy.status = { phase, completedAt: store.time };
      });
    }

    it("creates one backup at each scheduled time, with the time in its name, and shows the next time", async () => {
      const begin = drive.world.now;
      backups.create(SCHEDULE, "hourly", SPEC);
      expect(await pass()).to.equal(HOUR_MS);
      expect(names()).to.deep.equal([]);
      drive.world.now += HOUR_MS;
      await pass();
      expect(names()).to.deep.equal([nameAt(begin + HOUR_MS)]);
      await pass();
      expect(names()).to.have.length(1);
      const { status } = backups.get(SCHEDULE, "hourly");
      expect(status).to.include({
        active: nameAt(begin + HOUR_MS),
        lastScheduleTime: "2026-01-01T01:00:00Z",
        nextScheduleTime: "2026-01-01T02:00:00Z",
      });
      const [made] = backups.list(BACKUP);
      expect(made?.spec).to.deep.equal({ clusterName: "demo", allowLeaderless: false });
      expect(made?.metadata.ownerReferences[0]).to.include({ kind: SCHEDULE, name: "hourly", controller: true });
    });

    it("makes up for one of the runs that were missed, and for none before it was made", async () => {
      const begin = drive.world.now;
      backups.create(SCHEDULE, "hourly", SPEC);
      drive.world.now += 100 * HOUR_MS + 60_000;
      await pass();
      await pass();
      expect(names()).to.deep.equal([nameAt(begin + 100 * HOUR_MS)]);
    });

    it("waits for the backup before it, and then makes the newest run alone", async () => {
      const begin = drive.world.now;
      backups.create(SCHEDULE, "hourly", SPEC);
      drive.world.now += HOUR_MS;
      await pass();
      drive.world.now += 3 * HOUR_MS;
      await pass();
      expect(conditionOf(backups.get(SCHEDULE, "hourly"), "Ready")).to.equal("True Waiting");
      expect(names()).to.have.length(1);
      end(nameAt(begin + HOUR_MS), "Succeeded");
      await pass();
      expect(names()).to.deep.equal([nameAt(begin + HOUR_MS), nameAt(begin + 4 * HOUR_MS)]);
      expect(backups.get(SCHEDULE, "hourly").status.lastSuccessfulTime).to.equal("2026-01-01T04:00:00Z");
    });

    it("makes none while it is suspended, nor makes up for those later", async () => {
      backups.create(SCHEDULE, "hourly", { ...SPEC, suspend: true });
      drive.world.now += 2 * HOUR_MS;
      await pass();
      expect(conditionOf(backups.get(SCHEDULE, "hourly"), "Ready")).to.equal("False Suspended");
      const { store } = drive.world.api;
      const schedule = store.get("coordinationbackupschedules", "default", "hourly");
      store.merge("coordinationbackupschedules", schedule, { spec: { suspend: false } });
      await pass();
      expect(names()).to.deep.equal([]);
    });

    it("keeps as many of each kind as its limits say, the newest", async () => {
      const begin = drive.world.now;
      backups.create(SCHEDULE, "hourly", SPEC);
      for (let hour = 1; hour <= 6; hour++) {
        drive.world.now += HOUR_MS;
        await pass();
        end(nameAt(begin + hour * HOUR_MS), hour % 2 === 0 ? "Failed" : "Succeeded");
      }
      await pass();
      expect(names()).to.deep.equal([3, 5, 6].map((hour) => nameAt(begin + hour * HOUR_MS)));
    });

    it("makes a run once, whenever the operator crashes", async () => {
      backups.create(SCHEDULE, "hourly", { ...SPEC, successfulHistoryLimit: 0 });
      let creations = 0;
      for (let writes = 1; writes <= 4; writes++) {
        drive.world.now += HOUR_MS;
        const before = drive.world.writes.length;
        drive.world.crashAfter(writes);
        await backups.until("made", () => backups.list(BACKUP).length > 0);
        drive.world.revive();
        const made = drive.world.writes.slice(before).filter((write) => write.startsWith("POST coordinationbackups"));
        creations += made.length;
        for (const name of names()) {
          end(name, "Succeeded");
        }
        await backups.until("tidy", () => backups.list(BACKUP).length === 0);
      }
      expect(creations).to.equal(4);
      expect(backups.crashes).to.be.greaterThan(1);
    });

    it("leaves alone a backup of that name that is not its own", async () => {
      const name = nameAt(drive.world.now + HOUR_MS);
      backups.create(SCHEDULE, "hourly", SPEC);
      backups.create(BACKUP, name, { clusterName: "other", allowLeaderless: false });
      drive.world.now += HOUR_MS;
      await pass();
      expect(conditionOf(backups.get(SCHEDULE, "hourly"), "Ready")).to.equal("False NameConflict");
      expect(backups.get(BACKUP, name).spec.clusterName).to.equal("other");
    });

    it("shows what is wrong with a schedule, and creates nothing", async () => {
      backups.create(SCHEDULE, "hourly", { ...SPEC, schedule: "99 * * * *" });
      expect(await pass()).to.equal(null);
      const [ready] = backups.get(SCHEDULE, "hourly").status.conditions;
      expect(ready).to.deep.include({ status: "False", reason: "ScheduleMalformed" });
      expect(ready.message).to.contain("99 * * * *");
    });

    it("gets a callback when one of its backups has ended", async () => {
      await founded();
      backups.create(SCHEDULE, "hourly", SPEC);
      drive.world.now += HOUR_MS;
      await backups.until("running", () => names().length === 1 && phaseOf(names()[0] ?? "") === "Running");
      expect(drive.world.backups.runs[0]?.phase).to.equal(BackupPhase.BACKUP_RUNNING);
      drive.world.backups.succeed();
      await backups.until("ended", () => phaseOf(names()[0] ?? "") === "Succeeded");
      expect(backups.reported).to.deep.equal(["hourly"]);
    });
  });
});
