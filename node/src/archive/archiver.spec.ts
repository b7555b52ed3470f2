import { expect } from "chai";
import { ArchivedCluster, type MemoryBackupStore } from "../../test/harness/index.ts";
import { DEFAULT_REPLICA_LIMITS, type ReplicaLimits } from "../replica/index.ts";

const { compaction } = DEFAULT_REPLICA_LIMITS;
/** Logs are as short as possible; they keep entries that are still needed. */
const SHORT_LOGS: Partial<ReplicaLimits> = { compaction: { ...compaction, keptEntries: 0, dueEntries: 2 } };
/** Logs drop even needed entries after a few large values. */
const SHORTEST_LOGS: Partial<ReplicaLimits> = {
  compaction: { ...compaction, keptEntries: 0, dueEntries: 2, neededBytes: 20_000 },
};
const LARGE = "large".repeat(2_000);

describe("the archiver", function () {
  this.timeout(30_000);

  let archived: ArchivedCluster;

  function begin(limits: Partial<ReplicaLimits>, intervalMs?: number, archiving?: readonly number[]): void {
    archived = new ArchivedCluster(limits, intervalMs, archiving);
  }

  afterEach(() => archived.end());

  it("closes the gap before a snapshot of another member, instead of continuing after it", async () => {
    // Segments follow each other every ten seconds, so a snapshot is taken between two of them.
    begin({}, 25_000);
    await archived.until("a snapshot beyond the last segment", () => {
      archived.write(1);
      const [first, second] = archived.catalog.chains;
      return first !== undefined && second !== undefined && first.end.index < second.snapshot.index;
    });
    expect(archived.archiver).to.equal(2);
    await archived.kill(2);
    const last = archived.write(3);
    await archived.untilOneChainReaches(last);
    expect(archived.archiver).to.equal(3);
    expect(archived.breaks).to.equal(0);
  });

  it("reports that entries are missing before a snapshot, if they are no longer in the log", async () => {
    begin(SHORTEST_LOGS);
    await archived.untilArchived();
    await archived.untilArchived(archived.write(3));
    await archived.kill(2);
    const end = archived.archived;
    archived.write(10, LARGE);
    const taken = archived.backups.get(3)?.runs?.start(false) ?? expect.fail("member 3 takes no backups");
    await archived.until("another snapshot", () => archived.catalog.snapshots.length === 2);
    const { header } = await taken.done;
    expect(header.index, "the index of the snapshot").to.be.greaterThan(end);
    await archived.until("a log that begins after the archive", () => {
      const { firstIndex } = archived.cluster.replica(3).status();
      return firstIndex > end + 1 && firstIndex <= header.index + 1;
    });
    const last = archived.write(1);
    await archived.until("the archive to continue", () => (archived.catalog.segments.at(-1)?.lastIndex ?? 0) >= last);
    expect(archived.errors.join()).to.include(`entries ${end + 1} to ${header.index} are missing`);
    expect([archived.breaks, archived.catalog.snapshots.length]).to.deep.equal([1, 2]);
  });

  it("keeps the log after the snapshot that starts a chain, however long the snapshot takes", async () => {
    begin(SHORT_LOGS);
    archived.bucket.hold((operation, name) => operation === "put" && name.endsWith(".qsnap"));
    await archived.until("the snapshot to be on its way", () => archived.bucket.held > 0);
    const last = archived.write(40);
    await archived.pass(5);
    archived.bucket.release();
    await archived.untilArchived(last);
    expect(archived.breaks).to.equal(0);
    expect(archived.catalog.snapshots.length).to.equal(1);
  });

  it("continues the chain that another member has begun while its own first snapshot waited", async () => {
    begin({});
    archived.cluster.network.hold(1, 2, "log");
    const first = archived.write(3);
    await archived.until("the snapshot to wait", () => archived.backups.get(2)?.runs?.isRunning === true);
    archived.backups.get(3)?.runs?.start(false);
    await archived.until("the snapshot of the other member", () => archived.catalog.snapshots.length === 1);
    expect(archived.catalog.snapshots[0]?.index).to.equal(first);
    await archived.addSegment({ term: archived.cluster.replica(1).status().term });
    archived.write(3);
    archived.cluster.network.release(1, 2, "log");
    await archived.until("the snapshot that waited", () => archived.catalog.snapshots.length === 2);
    expect(archived.catalog.snapshots[1]?.index, "its index").to.be.greaterThan(first + 1);
    await archived.untilOneChainReaches(archived.write(3));
    expect([archived.archiver, archived.breaks]).to.deep.equal([2, 0]);
  });

  it("forgets a broken chain when another member has started a new one", async () => {
    begin({});
    await archived.untilArchived();
    await archived.untilArchived(archived.write(3));
    await archived.kill(2);
    archived.damageLastSegment();
    archived.bucket.hold((operation, name) => operation === "put" && name.endsWith(".qsnap"));
    await archived.until("the next member to find the damage", () => archived.breaks > 0);
    const store = archived.stores.get(3) as MemoryBackupStore;
    store.isAway = true;
    archived.bucket.release();
    await archived.until("the leader to archive", () => archived.archiver === 1);
    await archived.untilArchived(archived.write(3));
    const snapshots = archived.catalog.snapshots.length;
    store.isAway = false;
    await archived.until("the follower to archive again", () => archived.archiver === 3);
    await archived.untilArchived(archived.write(1));
    expect(archived.catalog.snapshots.length, "snapshots").to.equal(snapshots);
  });

  it("does not block compaction while its store is unavailable, and reports that its chain is broken", async () => {
    begin(SHORTEST_LOGS);
    await archived.untilArchived(archived.write(3));
    const last = archived.archived;
    for (const store of archived.stores.values()) {
      store.isAway = true;
    }
    // It has the missing entries in memory; the next archiver has not.
    await archived.kill(2);
    await archived.until("logs that begin after the archive", () => {
      archived.write(5, LARGE);
      return [1, 3].every((id) => archived.cluster.replica(id).status().firstIndex > last + 1);
    });
    for (const store of archived.stores.values()) {
      store.isAway = false;
    }
    await archived.untilArchived();
    expect(archived.breaks).to.be.at.least(1);
    expect(archived.errors.join()).to.include("the chain of the archive is broken");
    expect(archived.catalog.snapshots.length).to.equal(2);
  });

  it("reports that its chain is broken if the log was compacted between two attempts", async () => {
    begin(SHORTEST_LOGS, undefined, [2]);
    await archived.untilArchived();
    const store = archived.stores.get(2) as MemoryBackupStore;
    store.isAway = true;
    archived.write(1);
    await archived.until("long pauses between attempts", () => {
      return (archived.backups.get(2)?.archiver?.report.failures ?? 0) >= 5;
    });
    const last = archived.write(10, LARGE);
    store.isAway = false;
    await archived.untilArchived(last);
    expect(archived.breaks).to.equal(1);
    expect(archived.errors.join()).to.match(/chain of the archive is broken.*the log begins at index/);
    expect(archived.catalog.problems).to.deep.equal([]);
  });

  it("waits for a snapshot that is being taken before it takes the one that starts a chain", async () => {
    begin(SHORTEST_LOGS, undefined, [2]);
    await archived.untilArchived();
    const store = archived.stores.get(2) as MemoryBackupStore;
    const { archiver, runs } = archived.backups.get(2) ?? expect.fail("member 2 has no backups");
    archived.bucket.hold((operation, name) => operation === "put" && name.endsWith(".qsnap"));
    runs?.start(false);
    await archived.until("the snapshot to be on its way", () => archived.bucket.held > 0);
    store.isAway = true;
    archived.write(1);
    await archived.until("long pauses between attempts", () => (archiver?.report.failures ?? 0) >= 5);
    const last = archived.write(10, LARGE);
    store.isAway = false;
    await archived.until("the chain to break", () => archived.breaks > 0);
    await archived.pass(15);
    expect(archiver?.lastError, "while it waits").not.to.include("is taking backup");
    archived.bucket.release();
    await archived.untilArchived(last);
    expect([archived.breaks, archived.catalog.snapshots.length]).to.deep.equal([1, 3]);
  });

  it("reports entries as archived only when the store has them", async () => {
    begin({});
    await archived.untilArchived();
    archived.bucket.hold((operation, name) => operation === "put" && name.endsWith(".qseg"));
    archived.write(3);
    await archived.until("a segment to be on its way", () => archived.bucket.held > 0);
    await archived.pass(5);
    for (const { archiver } of archived.backups.values()) {
      expect(archiver?.report.index).to.equal(archived.archived);
    }
  });

  it("retries a segment that the store did not take, and loses none", async () => {
    begin({});
    await archived.untilArchived();
    const store = archived.stores.get(2) as MemoryBackupStore;
    store.isAway = true;
    archived.write(3);
    await archived.until("a failure", () => (archived.backups.get(2)?.archiver?.report.failures ?? 0) > 0);
    const last = archived.write(3);
    store.isAway = false;
    await archived.untilOneChainReaches(last);
    expect(archived.catalog.segments.map(({ firstIndex }) => firstIndex)).to.deep.equal(
      [archived.catalog.snapshots[0], ...archived.catalog.segments.slice(0, -1)].map((before) => {
        return (before?.kind === "snapshot" ? before.index : (before?.lastIndex ?? 0)) + 1;
      }),
    );
  });

  it("ends at a member that is cut off, by itself", async () => {
    begin({});
    await archived.untilArchived();
    expect(archived.backups.get(2)?.archiver?.isArchiving).to.equal(true);
    archived.cluster.network.isolate(2);
    archived.cluster.advance(5_000);
    expect(archived.backups.get(2)?.archiver?.isArchiving).to.equal(false);
    await archived.until("another member to archive", () => archived.archiver === 3);
  });

  it("continues on a member that has not yet applied the archived entries, once it has", async () => {
    begin({});
    await archived.untilArchived();
    archived.cluster.network.hold(1, 3, "log");
    await archived.untilArchived(archived.write(3));
    await archived.kill(2);
    await archived.until("the member that is behind to archive", () => archived.archiver === 3);
    const store = archived.stores.get(3) ?? expect.fail("each member has a store");
    const before = store.listings;
    await archived.until("it to find itself behind, and to look again", () => store.listings >= before + 2);
    archived.cluster.network.release(1, 3, "log");
    const last = archived.write(3);
    await archived.untilOneChainReaches(last);
    expect([archived.breaks, archived.catalog.snapshots.length]).to.deep.equal([0, 1]);
  });

  it("does not continue the archive of another log", async () => {
    begin({});
    await archived.untilArchived();
    await archived.untilArchived(archived.write(3));
    await archived.kill(2);
    await archived.addSegment({ term: 99 });
    const foreign = archived.archived;
    archived.write(10);
    await archived.until("another chain", () => archived.catalog.snapshots.length === 2);
    expect(archived.errors.join()).to.include(`the archive ends at index ${foreign} with an entry of term 99`);
    expect(archived.catalog.snapshots[1]?.index).to.be.at.least(foreign);
  });

  it("writes few segments while the log has only ticks, and the next change as soon as ever", async () => {
    /** In steps, so that segments can be stored meanwhile. */
    const pass = async (seconds: number): Promise<void> => {
      for (let left = seconds; left > 0; left -= 15) {
        archived.cluster.advance(14_000);
        await archived.pass(1);
      }
    };
    begin({});
    await archived.untilArchived(archived.write(3));
    await archived.pass(2);
    const { length } = archived.catalog.segments;
    const before = archived.applied;
    await pass(120);
    expect(archived.applied, "ticks").to.be.at.least(before + 4);
    expect(archived.catalog.segments.length, "segments").to.equal(length);
    expect(archived.backups.get(2)?.archiver?.lagMs).to.equal(0);
    const { time } = archived.cluster;
    const writtenMs = time.monotonicMs();
    const last = archived.write(1);
    // Time passes for the cluster while a busy disk stores the segment.
    await archived.untilArchived(last);
    expect(time.monotonicMs() - writtenMs, "before the next segment of ticks").to.be.below(150_000);
    await pass(330);
    expect(archived.archived, "the ticks").to.be.above(last);
    expect(archived.breaks).to.equal(0);
  });

  it("ends each segment where the state is known", async () => {
    begin({});
    await archived.untilArchived();
    await archived.until("three segments", () => {
      archived.write(1);
      return archived.catalog.segments.length >= 3;
    });
    expect(archived.catalog.segments.filter(({ lastRevision }) => lastRevision === undefined)).to.deep.equal([]);
  });
});
