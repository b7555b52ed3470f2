import { expect } from "chai";
import { ArchivedCluster } from "../../test/harness/index.ts";
import { BACKUP_METRICS } from "./backup-metrics.ts";
import type { BackupVerification } from "./backup-verification.ts";
import type { MemberBackups } from "./member-backups.ts";

const INTERVAL_MS = 60_000;

describe("the verification of backups", function () {
  this.timeout(30_000);

  let archived: ArchivedCluster;

  beforeEach(async () => {
    archived = new ArchivedCluster({}, INTERVAL_MS);
    await archived.untilArchived();
    await archived.until("the first snapshot to be read back", () => verification().succeededMs > 0);
  });
  afterEach(() => archived.end());

  function archiver(): MemberBackups {
    return archived.backups.get(archived.archiver) ?? expect.fail("no member archives");
  }

  function verification(): BackupVerification {
    return archiver().verification ?? expect.fail("nothing is verified");
  }

  /** Lets the member take the next snapshot, and read back what is there then. */
  async function untilVerified(): Promise<void> {
    const { length } = archived.catalog.snapshots;
    const before = Math.max(verification().succeededMs, verification().failedMs);
    await archived.until("the next snapshot", () => archived.catalog.snapshots.length > length);
    await archived.until("it to be read back", () => {
      return Math.max(verification().succeededMs, verification().failedMs) > before;
    });
  }

  async function verifyNow(): Promise<void> {
    await passUntilEnd(verification().run());
  }

  /** Turns come as time passes. */
  async function passUntilEnd(running: Promise<void>): Promise<void> {
    let hasEnded = false;
    void running.then(() => {
      hasEnded = true;
    });
    await archived.until("the verification to end", () => hasEnded);
  }

  function metric(): unknown {
    const found = BACKUP_METRICS.find(({ name }) => name === "quoin_backup_verified_timestamp_seconds");
    return found?.type === "gauge" ? found.read(archiver()) : expect.fail("there is no such metric");
  }

  it("reads each snapshot back, and what was archived since the one before", async () => {
    await archived.untilArchived(archived.write(3));
    await untilVerified();
    const { succeededMs, failedMs, damaged } = verification();
    expect([succeededMs > 0, failedMs, damaged.size]).to.deep.equal([true, 0, 0]);
    expect(metric()).to.deep.equal([
      [["succeeded"], succeededMs / 1_000],
      [["failed"], 0],
    ]);
    expect(archived.errors).to.deep.equal([]);
  });

  it("says which object is damaged, and is well again when what was put there since is whole", async () => {
    await archived.untilArchived(archived.write(3));
    const { name } = archived.catalog.segments.at(-1) ?? expect.fail("there is no segment");
    archived.damageLastSegment();
    await untilVerified();
    const { succeededMs, failedMs, damaged } = verification();
    expect([...damaged]).to.deep.equal([name]);
    expect(failedMs).to.be.greaterThan(succeededMs);
    expect(archived.errors.join()).to.include("a backup in the store cannot be used").and.to.include(name);
    expect(metric()).to.deep.equal([
      [["succeeded"], succeededMs / 1_000],
      [["failed"], failedMs / 1_000],
    ]);
    await untilVerified();
    expect(verification().succeededMs).to.be.greaterThan(failedMs);
    expect(verification().damaged.size).to.equal(0);
  });

  it("says that a segment is lost in the middle, by the one behind it", async () => {
    await archived.untilArchived(archived.write(3));
    const { segments } = archived.catalog;
    const lost = segments.at(-1) ?? expect.fail("there is no segment");
    await archived.untilArchived(archived.write(3));
    const [next] = archived.catalog.segments.slice(segments.length);
    archived.bucket.objects.delete(lost.name);
    await verifyNow();
    expect([...verification().damaged]).to.deep.equal([next?.name]);
    expect(archived.errors.join()).to.include("which is missing");
  });

  it("says nothing of what is deleted as old while it is read", async () => {
    await archived.untilArchived(archived.write(3));
    await untilVerified();
    const { succeededMs, failedMs } = verification();
    const [old] = archived.catalog.snapshots;
    archived.bucket.hold((operation) => operation === "get");
    const ended = verification().run();
    await archived.until("the first object to be asked for", () => archived.bucket.held > 0);
    archived.bucket.objects.delete(old?.name ?? "");
    archived.bucket.release();
    await passUntilEnd(ended);
    expect([verification().succeededMs, verification().failedMs]).to.deep.equal([succeededMs, failedMs]);
    expect(archived.errors).to.deep.equal([]);
  });

  it("takes a store that cannot be read for no damage", async () => {
    const { succeededMs } = verification();
    for (const store of archived.stores.values()) {
      store.isAway = true;
    }
    await verification().run();
    expect([verification().succeededMs, verification().failedMs]).to.deep.equal([succeededMs, 0]);
  });
});
