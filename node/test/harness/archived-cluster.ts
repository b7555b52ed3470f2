/**
 * Three replicas over a fake clock, with one archive in memory. They use the archiver of production, so that a spec can
 * hold each of its steps, or let it fail, at a chosen time.
 */

import { createHash } from "node:crypto";
import { type Catalog, catalogOf, newObjectId, putSegment } from "@quoin/backup";
import { expect } from "chai";
import { until } from "../../../testing/index.ts";
import { MemberBackups } from "../../src/archive/index.ts";
import type { ReplicaLimits } from "../../src/replica/index.ts";
import { FOUNDING } from "../index.ts";
import { MemoryBackupStore, MemoryBucket } from "./memory-backup-store.ts";
import { ReplicaCluster } from "./replica-cluster.ts";

/** Time that passes in the cluster for each check. */
const STEP_MS = 500;
/** Compression takes real time, so some of it passes between two checks. */
const TIME_LIMITS = { limitMs: 25_000, pollMs: 3, pollMsMax: 50 };
const HOUR_MS = 3_600_000;
const LOCATION = { kind: "directory", directory: "/memory" } as const;

/** Three members with one archive; member 1 leads. */
export class ArchivedCluster {
  readonly cluster: ReplicaCluster;
  readonly bucket: MemoryBucket;
  readonly stores: ReadonlyMap<number, MemoryBackupStore>;
  readonly backups = new Map<number, MemberBackups>();
  readonly errors: string[] = [];
  readonly #intervalMs: number;

  /** @param archiving the members that are started with an archiver. */
  constructor(limits: Partial<ReplicaLimits>, intervalMs = HOUR_MS, archiving: readonly number[] = [1, 2, 3]) {
    this.#intervalMs = intervalMs;
    this.cluster = ReplicaCluster.ledBy(1, limits);
    this.bucket = new MemoryBucket(() => this.cluster.time.wallMs());
    this.stores = new Map([1, 2, 3].map((id) => [id, new MemoryBackupStore(this.bucket)]));
    for (const id of archiving) {
      this.archive(id);
    }
  }

  /** Starts the archiver of the member's process. */
  archive(id: number): void {
    const { cluster } = this;
    const error = (fields: object, message: string) => void this.errors.push(`${message} ${JSON.stringify(fields)}`);
    const backups = new MemberBackups({
      host: {
        name: `member-${id}`,
        clusterName: "spec",
        clusterId: FOUNDING.clusterId,
        memberId: id,
        version: "0.1.0",
        replica: cluster.replica(id),
      },
      configuration: {
        location: LOCATION,
        keyFile: null,
        archives: true,
        intervalMs: this.#intervalMs,
        retention: null,
      },
      clock: cluster.time,
      scheduler: cluster.time,
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

  /** Another writer continues the archive with a segment; its one entry is of this term. */
  async addSegment({ term }: { readonly term: number }): Promise<void> {
    const { name, id, end } = this.#last();
    const { index: lastIndex, revision: lastRevision, wallMs: lastWallMs } = end;
    const index = lastIndex + 1;
    const previousHash = createHash("sha256").update(name).digest();
    const header = {
      clusterId: FOUNDING.clusterId,
      clusterName: "spec",
      quoinVersion: "0.1.0",
      clusterVersion: 1,
      id: newObjectId(),
      previousId: id,
      previousHash,
      lastRevision,
      lastWallMs,
      firstIndex: index,
      lastIndex: index,
      firstTerm: term,
      lastTerm: term,
    };
    const store = new MemoryBackupStore(this.bucket);
    await putSegment(store, header, [[{ index, term, bytes: new Uint8Array(40) }]], undefined);
  }

  /** The last segment or, if there is none, the last snapshot. */
  #last() {
    const { segments, snapshots } = this.catalog;
    const segment = segments.at(-1);
    if (segment !== undefined) {
      const { name, id, lastIndex: index, lastRevision: revision, lastWallMs: wallMs } = segment;
      return { name, id, end: { index, revision, wallMs } };
    }
    const { name, id, ...end } = snapshots.at(-1) ?? expect.fail("nothing is archived");
    return { name, id, end };
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

  /** Lets time pass until the condition holds. */
  until(what: string, isSo: () => boolean): Promise<true> {
    const attempt = () => {
      this.cluster.advance(STEP_MS);
      return isSo() || null;
    };
    return until(what, attempt, TIME_LIMITS);
  }

  /** Lets this many seconds of the cluster pass, while the archivers work. */
  async pass(seconds: number): Promise<void> {
    const endMs = this.cluster.time.monotonicMs() + seconds * 1_000;
    await this.until(`${seconds} s to pass`, () => this.cluster.time.monotonicMs() >= endMs);
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

  async untilOneChainReaches(index: number): Promise<void> {
    await this.until(`the first chain to reach index ${index}`, () => {
      return (this.catalog.chains[0]?.end.index ?? 0) >= index;
    });
  }

  async end(): Promise<void> {
    this.bucket.release();
    for (const id of [...this.backups.keys()]) {
      await this.kill(id);
    }
  }
}
