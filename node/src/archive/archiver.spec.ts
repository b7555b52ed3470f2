import { type Catalog, catalogOf } from "@quoin/backup";
import { expect } from "chai";
import { MemoryBackupStore, MemoryBucket, ReplicaCluster, until } from "../../test/harness/index.ts";
import { FOUNDING } from "../../test/index.ts";
import { DEFAULT_REPLICA_LIMITS, type ReplicaLimits } from "../replica/index.ts";
import { MemberBackups } from "./member-backups.ts";

/** Time that passes in the cluster for each look at it. */
const STEP_MS = 500;
const HOUR_MS = 3_600_000;
const LOCATION = { kind: "directory", directory: "/memory" } as const;
const { compaction } = DEFAULT_REPLICA_LIMITS;
/** Logs are as short as they can be; what is still needed is kept. */
const SHORT_LOGS: Partial<ReplicaLimits> = { compaction: { ...compaction, keptEntries: 0, dueEntries: 2 } };
/** And what is needed is dropped, too, when a few large values come. */
const SHORTEST_LOGS: Partial<ReplicaLimits> = {
  compaction: { ...compaction, keptEntries: 0, dueEntries: 2, neededBytes: 20_000 },
};
const LARGE = "large".repeat(2_000);

/** Three members with one archive; member 1 leads. */
class ArchivedCluster {
  readonly cluster: ReplicaCluster;
  readonly bucket: MemoryBucket;
  readonly stores: ReadonlyMap<number, MemoryBackupStore>;
  readonly backups = new Map<number, MemberBackups>();
  readonly errors: string[] = [];
  readonly #intervalMs: number;

  constructor(limits: Partial<ReplicaLimits>, intervalMs = HOUR_MS) {
    this.#intervalMs = intervalMs;
    this.cluster = ReplicaCluster.ledBy(1, limits);
    this.bucket = new MemoryBucket(() => this.cluster.time.wallMs());
    this.stores = new Map([1, 2, 3].map((id) => [id, new MemoryBackupStore(this.bucket)]));
    for (const id of [1, 2, 3]) {
      this.archive(id);
    }
  }

  /** The process of the member archives. */
  archive(id: number): void {
    const { cluster } = this;
    const error = (fields: object, message: string) => void this.errors.push(`${message} ${JSON.stringify(fields)}`);
    const backups = new MemberBackups({
      host: {
        ...{ name: `member-${id}`, clusterName: "spec", clusterId: FOUNDING.clusterId, memberId: id, version: "0.1.0" },
        replica: cluster.replica(id),
      },
      configuration: {
        location: LOCATION,
        keyFile: null,
        archives: true,
        intervalMs: this.#intervalMs,
        retention: null,
      },
      ...{ clock: cluster.time, scheduler: cluster.time },
      log: { info: () => undefined, warn: () => undefined, error },
      openStore: async () => this.stores.get(id) as MemoryBackupStore,
    });
    this.backups.set(id, backups);
  }

  async kill(id: number): Promise<void> {
    this.cluster.kill(id);
    await this.backups.get(id)?.stop();
    this.backups.delete(id);
  }

  damageLastSegment(): void {
    const { name } = this.catalog.segments.at(-1) ?? expect.fail("there is no segment");
    const bytes = this.bucket.objects.get(name)?.bytes ?? expect.fail("it is not stored");
    this.bucket.put(name, bytes.with(-1, (bytes.at(-1) as number) ^ 1));
  }

  get archiver(): number {
    return [...this.backups].find(([, { archiver }]) => archiver?.isArchiving)?.[0] ?? 0;
  }

  get breaks(): number {
    return [...this.backups.values()].reduce((sum, { archiver }) => sum + (archiver?.counts.breaks ?? 0), 0);
  }

  get catalog(): Catalog {
    return catalogOf(FOUNDING.clusterId, this.bucket.listing);
  }

  get archived(): number {
    return Math.max(0, ...this.catalog.chains.map(({ end }) => end.index));
  }

  get applied(): number {
    return this.cluster.replica(1).status().appliedIndex;
  }

  /** Lets time pass until it is so. */
  until(what: string, isSo: () => boolean): Promise<true> {
    return until(what, () => {
      this.cluster.advance(STEP_MS);
      return isSo() || null;
    });
  }

  /** @returns the last index */
  write(count: number, value = "v"): number {
    for (let at = 0; at < count; at++) {
      expect(this.cluster.resultAfter(this.cluster.put(1, `k-${at}`, { value }))).to.equal("done");
    }
    return this.applied;
  }

  async untilArchived(index = this.applied): Promise<void> {
    await this.until(`index ${index} to be archived`, () => this.archived >= index);
  }

  async end(): Promise<void> {
    this.bucket.release();
    for (const id of [...this.backups.keys()]) {
      await this.kill(id);
    }
  }
}

describe("the archiver", function () {
  this.timeout(60_000);

  let archived: ArchivedCluster;

  function begin(limits: Partial<ReplicaLimits>, intervalMs?: number): void {
    archived = new ArchivedCluster(limits, intervalMs);
  }

  afterEach(() => archived.end());

  it("closes the gap before a snapshot that another member has taken, instead of going on behind it", async () => {
    // Segments follow each other every ten seconds, so a snapshot is taken between two of them.
    begin({}, 25_000);
    await archived.until("a snapshot of what no segment has", () => {
      archived.write(1);
      const [first, second] = archived.catalog.chains;
      return first !== undefined && second !== undefined && first.end.index < second.snapshot.index;
    });
    expect(archived.archiver).to.equal(2);
    await archived.kill(2);
    const last = archived.write(3);
    await archived.until("the first chain to reach the end", () => {
      return (archived.catalog.chains[0]?.end.index ?? 0) >= last;
    });
    expect(archived.archiver).to.equal(3);
    expect(archived.breaks).to.equal(0);
  });

  it("keeps the log behind the snapshot with which a chain begins, however long that takes", async () => {
    begin(SHORT_LOGS);
    archived.bucket.hold((operation, name) => operation === "put" && name.endsWith(".qsnap"));
    await archived.until("the snapshot to be on its way", () => archived.bucket.held > 0);
    const last = archived.write(40);
    archived.cluster.advance(5_000);
    archived.bucket.release();
    await archived.untilArchived(last);
    expect(archived.breaks).to.equal(0);
    expect(archived.catalog.snapshots.length).to.equal(1);
  });

  it("forgets a broken chain when another member has begun one since", async () => {
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

  it("holds up no compaction while its store is away, and says that its chain is broken", async () => {
    begin(SHORTEST_LOGS);
    await archived.untilArchived(archived.write(3));
    const last = archived.archived;
    for (const store of archived.stores.values()) {
      store.isAway = true;
    }
    // It has in memory what is not archived; the next one has not.
    await archived.kill(2);
    await archived.until("logs that begin behind the archive", () => {
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
});
