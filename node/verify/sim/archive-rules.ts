/**
 * The rules of the archive. They check what members report about it, what is stored and deleted, and, at the end, that
 * every chain can be read and leads to the right state.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BackupStore,
  type Catalog,
  type Chain,
  catalogOf,
  parseObjectName,
  type RetentionPolicy,
  readCatalog,
  type SegmentName,
  type StoredObject,
  verifyChain,
} from "@quoin/backup";
import type { ArchiveReport } from "../../src/peers/index.ts";
import { rebuild } from "../../src/rebuild/index.ts";
import type { StateLimits } from "../../src/state/index.ts";
import { OfflineState } from "../../src/storage/index.ts";
import type { LiveExecution } from "./live-execution.ts";
import type { RandomStream } from "./random.ts";
import { must } from "./rule-violation.ts";

export interface ArchiveRulesOptions {
  readonly clusterId: string;
  readonly execution: Pick<LiveExecution, "digestAt">;
  /** Null if all objects are kept. */
  readonly retention: RetentionPolicy | null;
}

/**
 * Entries that no segment ever contained, between the end of a chain and a later snapshot with which the archive went
 * on.
 */
interface Gap {
  readonly firstIndex: number;
  /** The index of the snapshot. */
  readonly lastIndex: number;
  /** The index of the snapshot after the previous gap, or of the first snapshot. */
  readonly from: number;
}

/** A chain that a member reported broken. */
interface BrokenChain {
  readonly memberId: number;
  /** Index of its last entry. */
  readonly end: number;
}

/** How late the archive of a run without faults may be, beyond the time for which entries wait, in milliseconds. */
const LATE_MS = 5_000;
/**
 * A store takes one segment after another. Where it takes less than the cluster writes, the archive is late without a
 * fault of its own, but then it stores something at least this often, in milliseconds.
 */
const STORED_WITHIN_MS = 2_000;
/** Largest number of states to rebuild at the end: each needs a directory and some tens of milliseconds. */
const REBUILT_MAX = 2;

const LATE = "archive: it is late by no more than it may be";
const NOT_STORED = "archive: what is said to be archived can be restored";
const SHORTER = "archive: retention deletes nothing that the end of the archive needs";
const KEPT = "archive: retention keeps as many snapshots as it was asked to";
const WHOLE = "archive: every chain can be read, and is of the cluster's log";
const HOLE = "archive: where entries are missing, the chain was openly broken";
const SAME = "archive: the state that is rebuilt is the one that the cluster had";
const FORK = "archive: segments that begin at one index are noticed";

export class ArchiveRules {
  readonly #options: ArchiveRulesOptions;
  /** The objects in the bucket, and all that were ever in it. */
  readonly #now = new Map<string, StoredObject>();
  readonly #everStored = new Map<string, StoredObject>();
  /** The ends of chains that were reported broken. */
  readonly #breaks: number[] = [];
  /** The same, by the members that reported it and have not begun another chain since. */
  readonly #broken = new Map<number, BrokenChain>();
  /**
   * Snapshots of these members by their ids. The member begins a chain with the one that a segment follows. A snapshot
   * that it was taking when it noticed the break is only a backup.
   */
  readonly #candidates = new Map<string, { readonly broken: BrokenChain; readonly index: number }>();
  /** From the end of a chain that a member reported broken to the snapshot with which it began another one. */
  readonly #reported: { readonly end: number; readonly index: number }[] = [];
  /**
   * Gaps by the index of the snapshot after them: whether the way in which the gap came about explains it. Retention had
   * left no snapshot before it. Or the archive had begun behind it, and another member, which began at the same time,
   * stored its first segment later.
   */
  readonly #gaps = new Map<number, boolean>();
  /** Retention has left no snapshot before this index. */
  #oldestKept = 0;
  #reached = 0;
  #lagMsMax = 0;
  /** When an object was last stored, in milliseconds of the simulated time. */
  #storedMs = 0;
  #segments = 0;
  #snapshots = 0;
  #deleted = 0;

  constructor(options: ArchiveRulesOptions) {
    this.#options = options;
  }

  /** The last index that can be restored from the bucket, by the names of its objects. */
  get reached(): number {
    return this.#reached;
  }

  /** The greatest lag of the archive in a run without faults, in milliseconds. */
  get lagMsMax(): number {
    return this.#lagMsMax;
  }

  get counts() {
    return {
      segments: this.#segments,
      snapshots: this.#snapshots,
      deleted: this.#deleted,
      breaks: this.#breaks.length,
      forks: this.#catalog(this.#everStored).problems.filter(({ kind }) => kind === "fork").length,
    };
  }

  /** @returns numbers for the trace. */
  onPut(object: StoredObject, nowMs: number): number[] {
    const { name } = object;
    this.#storedMs = nowMs;
    const isNew = !this.#everStored.has(name);
    this.#now.set(name, object);
    this.#everStored.set(name, object);
    this.#segments += Number(isNew && name.endsWith(".qseg"));
    this.#snapshots += Number(isNew && name.endsWith(".qsnap"));
    this.#reached = reachOf(this.#catalog(this.#now));
    const parsed = parseObjectName(name);
    if (parsed?.kind === "segment") {
      this.#noteBegin(parsed);
      this.#noteGaps(parsed);
    }
    return [this.#reached];
  }

  onDeleted({ name }: StoredObject): number[] {
    const before = this.#reached;
    this.#checkKept(name);
    this.#now.delete(name);
    this.#deleted++;
    const catalog = this.#catalog(this.#now);
    this.#reached = reachOf(catalog);
    must(this.#reached >= before, SHORTER, () => `it reached ${before}, and ${this.#reached} without ${name}`);
    this.#oldestKept = Math.max(this.#oldestKept, catalog.snapshots[0]?.index ?? 0);
    return [this.#reached];
  }

  /**
   * @param index the end of the chain, as the member reports it. While several members archive, another one may reach
   * further.
   */
  onBreak(memberId: number, index: number = this.#reached): void {
    this.#breaks.push(index);
    this.#broken.set(memberId, { memberId, end: index });
  }

  /** A member has taken a snapshot: if it has reported a broken chain, another one may begin there. */
  onSnapshot(memberId: number, index: number, id: string): void {
    const broken = this.#broken.get(memberId);
    if (broken !== undefined) {
      this.#candidates.set(id, { broken, index });
    }
  }

  /** A member, or its process, has begun to archive: its earlier reports are not about the chain that it begins now. */
  onBegin(memberId: number): void {
    this.#broken.delete(memberId);
  }

  onReport(memberId: number, { index, chainIndex }: ArchiveReport): void {
    must(
      index <= this.#reached,
      NOT_STORED,
      () => `m${memberId} says ${index}, and the archive ends at ${this.#reached}`,
    );
    must(chainIndex <= index, NOT_STORED, () => `m${memberId} says ${index} of a chain from ${chainIndex} on`);
  }

  /** In a run without faults, the archive is not late once it has begun, unless the store cannot take more. */
  onLag(memberId: number, { isArchiving, lagMs, report }: ArchiverView, segmentMs: number, nowMs: number): void {
    if (isArchiving && report.chainIndex > 0) {
      this.#lagMsMax = Math.max(this.#lagMsMax, lagMs);
      const idleMs = nowMs - this.#storedMs;
      must(
        lagMs <= segmentMs + LATE_MS || idleMs <= STORED_WITHIN_MS,
        LATE,
        () => `m${memberId}: ${lagMs} ms, and has stored nothing for ${idleMs} ms`,
      );
    }
  }

  /** Reads everything in the bucket, and rebuilds some states. */
  async check(store: BackupStore, limits: StateLimits, random: RandomStream): Promise<void> {
    const catalog = await readCatalog(store, this.#options.clusterId);
    this.#checkForks(catalog);
    for (const chain of catalog.chains) {
      const { problem, lastIndex } = await verifyChain(store, chain, {});
      must(problem === undefined, WHOLE, () => `${problem?.message}`);
      must(lastIndex === chain.end.index, WHOLE, () => `the chain from ${chain.snapshot.name} ends at ${lastIndex}`);
    }
    const [oldest] = catalog.chains;
    const other = random.pick(catalog.chains);
    const chosen = new Set([oldest, other].filter((chain) => chain !== undefined));
    for (const chain of [...chosen].slice(0, REBUILT_MAX)) {
      await this.#rebuild(
        store,
        chain,
        limits,
        chain === oldest ? chain.end.index : random.whole(chain.snapshot.index, chain.end.index),
      );
    }
  }

  /**
   * Whether each entry between the first snapshot and this index was archived, reported missing, or given up by
   * retention.
   */
  isWholeTo(index: number): boolean {
    return this.#reached >= index && this.#hole() === undefined;
  }

  /**
   * Checks that each entry between the first snapshot and the end was archived, reported missing, or given up by
   * retention.
   */
  checkHoles(): void {
    must(this.#hole() === undefined, HOLE, () => this.describe());
  }

  /** How far the archive reaches, and its problems, in words. */
  describe(): string {
    const hole = this.#hole();
    const missing = hole === undefined ? "none" : `${hole.firstIndex} to ${hole.lastIndex}`;
    return `archived to ${this.#reached}, broken at ${this.#breaks.join() || "no time"}, missing entries: ${missing}`;
  }

  /** If this is the first segment after a snapshot, a chain begins with that snapshot. */
  #noteBegin({ previousId }: SegmentName): void {
    const candidate = this.#candidates.get(previousId);
    if (candidate !== undefined) {
      const { broken, index } = candidate;
      this.#candidates.delete(previousId);
      this.#reported.push({ end: broken.end, index });
      if (this.#broken.get(broken.memberId) === broken) {
        this.#broken.delete(broken.memberId);
      }
    }
  }

  #noteGaps(segment: SegmentName): void {
    for (const { lastIndex } of this.#findGaps()) {
      if (!this.#gaps.has(lastIndex)) {
        const isBefore = segment.lastIndex < lastIndex;
        this.#gaps.set(lastIndex, isBefore || lastIndex <= this.#oldestKept);
      }
    }
  }

  /**
   * The first gap that no member has reported, and that is not explained. Without a snapshot before its entries, a
   * segment of them restores nothing. So the archive may lack them if the last such snapshot was deleted before it went
   * on behind them. A later deletion is no reason.
   */
  #hole(): Gap | undefined {
    return this.#findGaps().find(({ firstIndex, lastIndex, from }) => {
      const isSaid =
        this.#breaks.some((index) => index >= from && index <= lastIndex) ||
        this.#reported.some(({ end, index }) => end < firstIndex && index >= lastIndex);
      return !isSaid && this.#gaps.get(lastIndex) !== true;
    });
  }

  /** A snapshot without a segment after it is a backup of one moment, not a part of an archive. */
  #findGaps(): Gap[] {
    const { chains } = this.#catalog(this.#everStored);
    const gaps: Gap[] = [];
    let [from, end] = [0, 0];
    for (const { snapshot, end: chainEnd } of chains.filter(({ segments }) => segments.length > 0)) {
      if (end > 0 && snapshot.index > end) {
        gaps.push({ firstIndex: end + 1, lastIndex: snapshot.index, from });
      }
      from = end === 0 || snapshot.index > end ? snapshot.index : from;
      end = Math.max(end, chainEnd.index);
    }
    return gaps;
  }

  /** Retention keeps the required number of snapshots, and all segments that follow them. */
  #checkKept(name: string): void {
    const { snapshots, segments } = this.#catalog(this.#now);
    const { keepSnapshots = 1 } = this.#options.retention ?? { keepSnapshots: Number.POSITIVE_INFINITY };
    const segment = segments.find((one) => one.name === name);
    const neededFrom = segment?.lastIndex ?? (snapshots.find((one) => one.name === name)?.index ?? 0) + 1;
    const kept = snapshots.filter(({ index }) => index >= neededFrom).length;
    must(kept >= keepSnapshots, KEPT, () => `${name} is deleted, and ${kept} snapshots do not need it`);
  }

  #checkForks({ segments, problems }: Catalog): void {
    const forks = new Set(problems.filter(({ kind }) => kind === "fork").map(({ name }) => name));
    for (const [at, { name, firstIndex }] of segments.entries()) {
      must(segments[at - 1]?.firstIndex !== firstIndex || forks.has(name), FORK, () => name);
    }
  }

  async #rebuild(store: BackupStore, chain: Chain, stateLimits: StateLimits, index: number): Promise<void> {
    const directory = mkdtempSync(join(tmpdir(), "quoin-test-sim-archive-"));
    try {
      const point = { kind: "index", index } as const;
      const state = await OfflineState.create(join(directory, "state"), stateLimits);
      const { progress } = await rebuild({ store, objects: chain, decryptOptions: {}, point, state }).finally(() =>
        state.close(),
      );
      const digest = this.#options.execution.digestAt(index);
      must(progress.appliedIndex === index && progress.digest === digest, SAME, () => {
        return `${chain.snapshot.name} to ${index}: at ${progress.appliedIndex} ${progress.digest} instead of ${digest}`;
      });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  #catalog(objects: ReadonlyMap<string, StoredObject>): Catalog {
    return catalogOf(this.#options.clusterId, objects.values());
  }
}

function reachOf({ chains }: Catalog): number {
  return Math.max(0, ...chains.map(({ end }) => end.index));
}

interface ArchiverView {
  readonly isArchiving: boolean;
  readonly lagMs: number;
  readonly report: ArchiveReport;
}
