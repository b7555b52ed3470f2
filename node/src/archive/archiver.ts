/**
 * Archives the committed entries of this member's own log while it has the lease. If there are entries, it writes a
 * segment every ten seconds, or as soon as a segment is full. Entries that change nothing, such as ticks, wait longer:
 * an idle cluster writes few segments. It takes a snapshot at the start of a chain, and at intervals.
 *
 * Nothing waits for it. It reads the entries that this member has applied, in short turns, and keeps one segment in
 * memory. While the store is unavailable it retries with backoff, and the log keeps the entries for as long as those
 * for a lagging member. If entries are compacted before they are archived, the chain is broken: the archiver logs this
 * and starts a new chain with a snapshot.
 */

import { putSegment } from "@quoin/backup";
import type { ArchiveReport } from "../peers/index.ts";
import { type Clock, StateExportEnded } from "../replica/index.ts";
import { CLUSTER_VERSIONS, CoordinationError, readCluster } from "../state/index.ts";
import type { ArchiveHost, BackupLog } from "./archive-host.ts";
import { ArchiveLease } from "./archive-lease.ts";
import type { ArchiveLimits } from "./archive-limits.ts";
import { type BackupRuns, requireFailure } from "./backup-runs.ts";
import type { BackupTarget } from "./backup-target.ts";
import { type ChainTail, findTail, hasSegments, isDamage } from "./chain-tail.ts";
import { type Segment, SegmentDraft, segmentEntries } from "./segment-draft.ts";

/** Pauses after failures, in milliseconds: the first, and the maximum. Each failure doubles the pause. */
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 10_000;

export interface ArchiverOptions {
  readonly host: ArchiveHost;
  readonly target: BackupTarget;
  readonly runs: BackupRuns;
  readonly clock: Clock;
  /** Resolves in a new turn, after the event loop has polled the sockets. */
  readonly nextTurn: () => Promise<void>;
  readonly log: BackupLog;
  readonly limits: ArchiveLimits;
  /** Makes the id of each segment. */
  readonly newId: () => string;
  /** Time between two snapshots, in milliseconds. */
  readonly intervalMs: number;
  /** Called after each snapshot of the archive, to delete backups beyond the retention. */
  readonly onSnapshot: () => Promise<void>;
}

export class Archiver {
  readonly lease: ArchiveLease;
  readonly #options: ArchiverOptions;
  readonly #draft: SegmentDraft;
  /** A segment that is being written, or must be retried. */
  #segment: Segment | null = null;
  #tail: ChainTail | null = null;
  /** When the newest snapshot was taken, and when the next one is due, in milliseconds since 1970. */
  #lastSnapshotMs = 0;
  #nextSnapshotMs = 0;
  #collectedMs = 0;
  #isBusy = false;
  #isStopped = false;
  #isBroken = false;
  /** The first entry after the snapshot that starts a chain; null = no such snapshot is being taken. */
  #beginsFrom: number | null = null;
  #breaks = 0;
  #segments = 0;
  #bytes = 0;
  #failures = 0;
  #failuresTotal = 0;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #lastError = "";
  #lastSuccessMs = 0;

  constructor(options: ArchiverOptions) {
    this.#options = options;
    this.#draft = new SegmentDraft(options.limits.segmentBytes);
    this.lease = new ArchiveLease(options.host, options.clock);
  }

  /** Whether this member is archiving now. */
  get isArchiving(): boolean {
    return !this.#isStopped && this.lease.isValid;
  }

  /** Why the last attempt failed; "" if it succeeded. */
  get lastError(): string {
    return this.#lastError;
  }

  /** Segments, bytes of entries, failures and broken chains since the start of this process. */
  get counts() {
    return { segments: this.#segments, bytes: this.#bytes, failures: this.#failuresTotal, breaks: this.#breaks };
  }

  /** When the next snapshot is due, in milliseconds since 1970; 0 = this member plans none. */
  get nextSnapshotMs(): number {
    return this.isArchiving && this.#tail !== null ? this.#nextSnapshotMs : 0;
  }

  /** When the newest snapshot was taken, in milliseconds since 1970; 0 = not known. */
  get lastSnapshotMs(): number {
    return this.#lastSnapshotMs;
  }

  /** The state of the archive, as far as this member knows. */
  get report(): ArchiveReport {
    const tail = this.#tail;
    if (!this.isArchiving) {
      return { ...this.lease.known, isArchiving: false, failures: 0 };
    }
    const { index, revision, wallMs, chainIndex } = tail ?? this.lease.known;
    return {
      isArchiving: true,
      index,
      revision,
      wallMs,
      chainIndex,
      isBroken: this.#isBroken,
      breaks: this.#breaks,
      failures: this.#failures,
      lastSuccessMs: Math.max(this.#lastSuccessMs, this.lease.known.lastSuccessMs),
    };
  }

  /** Age of the oldest change that this member has applied and that is not archived, in milliseconds. */
  get lagMs(): number {
    const changedMs = this.#draft.changedMs(this.report.index);
    return changedMs === undefined ? 0 : Math.max(0, this.#options.clock.monotonicMs() - changedMs);
  }

  /** The caller must call this a few times a second. */
  onTick(): void {
    const { replica } = this.#options.host;
    if (replica === null || this.#isStopped) {
      return;
    }
    const nowMs = this.#options.clock.monotonicMs();
    const { report } = this;
    this.#draft.mark(replica.backups.progress, nowMs);
    this.#draft.forget(report.index);
    this.lease.renew(report);
    replica.backups.retainFrom(this.#retainedFrom(report));
    if (!this.#isBusy) {
      this.#isBusy = true;
      void this.#step(nowMs).finally(() => {
        this.#isBusy = false;
      });
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.host.replica?.backups.retainFrom(Number.POSITIVE_INFINITY);
  }

  /** The first entry that is not archived yet, by this member or by its successor. */
  #retainedFrom({ index, isBroken }: ArchiveReport): number {
    if (this.#beginsFrom !== null) {
      return this.#beginsFrom;
    }
    return index === 0 || isBroken ? Number.POSITIVE_INFINITY : index + 1;
  }

  async #step(nowMs: number): Promise<void> {
    if (!this.isArchiving) {
      this.#resetProgress();
      return;
    }
    if (nowMs < this.#retryAtMs) {
      return;
    }
    try {
      await this.#archive(nowMs);
    } catch (error) {
      await this.#onFailure(requireFailure(error));
    }
  }

  /** Another member has the lease and writes the entries that this one has not written. */
  #resetProgress(): void {
    this.#tail = null;
    this.#segment = null;
    this.#draft.clear();
    // The other member may start a new chain, which is then not broken.
    this.#isBroken = false;
    this.#failures = 0;
    this.#lastError = "";
    this.#retryAtMs = Number.NEGATIVE_INFINITY;
  }

  async #archive(nowMs: number): Promise<void> {
    this.#tail ??= await this.#begin();
    if (this.#tail === null) {
      return;
    }
    await this.#collect(this.#tail, nowMs);
    while (this.#tail !== null && this.isArchiving && this.#isDue(this.#tail)) {
      this.#segment ??= this.#draft.take(this.#originOf(this.#tail), this.#tail);
      await this.#write(this.#segment);
      this.#segment = null;
      await this.#collect(this.#tail, this.#options.clock.monotonicMs());
    }
    this.#takeSnapshotIfDue();
  }

  #isDue({ index }: ChainTail): boolean {
    const { segmentMs, idleSegmentMs } = this.#options.limits;
    const waitMs = this.#draft.changedMs(index) === undefined ? idleSegmentMs : segmentMs;
    const isOld = this.#options.clock.monotonicMs() - this.#collectedMs >= waitMs;
    return this.#segment !== null || this.#draft.isFull || (!this.#draft.isEmpty && isOld);
  }

  /** Continues at the end of the archive; if that is not possible, starts a new chain. */
  async #begin(): Promise<ChainTail | null> {
    const { host, target, log } = this.#options;
    const { replica } = host;
    if (replica === null) {
      return null;
    }
    if (!this.#isBroken) {
      const { tail, isWaiting } = await this.#find();
      if (isWaiting) {
        return null;
      }
      if (tail !== null) {
        log.info(
          { store: target.address, index: tail.index },
          "this member archives, and continues at the end of the archive",
        );
        return tail;
      }
    }
    return this.#beginChain();
  }

  async #find(): Promise<{ readonly tail: ChainTail | null; readonly isWaiting: boolean }> {
    const { host, target } = this.#options;
    const firstIndex = host.replica?.backups.firstIndex ?? 0;
    const found = await findTail(await target.open(), host.clusterId, firstIndex).catch((error: unknown) => {
      if (!isDamage(error)) {
        throw error;
      }
      this.#break(`the end of the archive cannot be used: ${error.message}`);
      return { tail: null, snapshotMs: 0, missing: undefined };
    });
    const { tail } = found;
    const backups = host.replica?.backups;
    if (tail === null || backups === undefined) {
      return { tail: null, isWaiting: backups === undefined };
    }
    if (tail.index > backups.progress.appliedIndex) {
      // The last archiver had applied more entries than this member has yet.
      return { tail: null, isWaiting: true };
    }
    const term = backups.entryTerm(tail.index);
    if (term !== tail.term) {
      this.#break(
        term === null
          ? `the log begins at index ${backups.firstIndex}, and the archive ends at ${tail.index}`
          : `the archive ends at index ${tail.index} with an entry of term ${tail.term}, and that of the log is of ${term}`,
        tail.index,
      );
      return { tail: null, isWaiting: false };
    }
    if (found.missing !== undefined) {
      // A new chain has already started, with that snapshot.
      const { firstIndex, lastIndex } = found.missing;
      const reason = `entries ${firstIndex} to ${lastIndex} are missing, and the log begins at ${backups.firstIndex}`;
      this.#logBroken(reason, firstIndex - 1);
    }
    this.#noteSnapshot(found.snapshotMs);
    this.#collectedMs = this.#options.clock.monotonicMs();
    return { tail, isWaiting: false };
  }

  /**
   * Takes a snapshot, which starts a chain. Returns null while this member takes another one, and if the archive was empty
   * and another member has begun it while the snapshot waited: then that chain continues, or its end is reported.
   */
  async #beginChain(): Promise<ChainTail | null> {
    const { host, target, runs, clock } = this.#options;
    if (runs.isRunning) {
      return null;
    }
    // The entries after the snapshot continue the chain, however long storing it takes.
    this.#beginsFrom = (host.replica?.backups.progress.appliedIndex ?? 0) + 1;
    host.replica?.backups.retainFrom(this.#beginsFrom);
    try {
      const { header, hash } = await runs.start(false).done;
      const isBegun = !this.#isBroken && (await hasSegments(await target.open(), host.clusterId));
      const { index, term, revision, wallMs, id } = header;
      this.#isBroken = false;
      this.#noteSnapshot(clock.wallMs());
      this.#onSuccess();
      void this.#options.onSnapshot();
      return isBegun ? null : { index, term, revision, wallMs, id, hash, chainIndex: index };
    } finally {
      this.#beginsFrom = null;
    }
  }

  /** Entries are missing after the chain. @param index of its last entry; undefined if that cannot be read */
  #break(reason: string, index?: number): void {
    this.#isBroken = true;
    this.#tail = null;
    this.#segment = null;
    this.#draft.clear();
    this.#logBroken(reason, index);
  }

  #logBroken(reason: string, index: number | undefined): void {
    this.#breaks++;
    this.#options.log.error(
      { reason, index },
      "the chain of the archive is broken: later entries can be restored only from the next snapshot on",
    );
  }

  /** Reads applied entries that are not collected yet, up to one full segment. */
  async #collect(tail: ChainTail, nowMs: number): Promise<void> {
    const backups = this.#options.host.replica?.backups;
    if (this.#draft.isEmpty) {
      this.#collectedMs = nowMs;
    }
    const archived = this.#segment?.header.lastIndex ?? tail.index;
    while (backups !== undefined && !this.#draft.isFull && this.isArchiving) {
      const rows = backups.entries((this.#draft.lastIndex ?? archived) + 1, this.#options.limits.turnBytes);
      if (rows === null) {
        this.#break(`the log begins at index ${backups.firstIndex}, and the archive ends at ${tail.index}`, tail.index);
        return;
      }
      if (rows.length === 0) {
        return;
      }
      this.#draft.add(rows);
      await this.#options.nextTurn();
    }
  }

  #originOf({ id: previousId, hash: previousHash }: ChainTail) {
    const { host, newId } = this.#options;
    const { clusterName, clusterId, version: quoinVersion, replica } = host;
    const cluster = replica === null ? undefined : readCluster(replica.state);
    const clusterVersion = cluster?.version ?? CLUSTER_VERSIONS.min;
    return { id: newId(), clusterId, clusterName, quoinVersion, clusterVersion, previousId, previousHash };
  }

  async #write(segment: Segment): Promise<void> {
    const { target } = this.#options;
    const { store, keyRing } = await target.open();
    const { header, revision, wallMs } = segment;
    const { hash, recordBytes } = await putSegment(store, header, segmentEntries(segment), keyRing);
    const chainIndex = this.#tail?.chainIndex ?? 0;
    this.#tail = { index: header.lastIndex, term: header.lastTerm, revision, wallMs, id: header.id, hash, chainIndex };
    this.#segments++;
    this.#bytes += recordBytes;
    this.#onSuccess();
  }

  /** A snapshot in the middle of the chain; segments continue meanwhile. */
  #takeSnapshotIfDue(): void {
    const { runs, clock, intervalMs, onSnapshot } = this.#options;
    const nowMs = clock.wallMs();
    if (nowMs < this.#nextSnapshotMs || runs.isRunning) {
      return;
    }
    this.#nextSnapshotMs = nowMs + intervalMs;
    runs
      .start(false)
      .done.then(() => {
        this.#noteSnapshot(clock.wallMs());
        return onSnapshot();
      })
      .catch((error: unknown) => {
        this.#nextSnapshotMs = nowMs + RETRY_MS_MAX;
        void this.#onFailure(requireFailure(error));
      });
  }

  #noteSnapshot(wallMs: number): void {
    this.#lastSnapshotMs = wallMs;
    this.#nextSnapshotMs = wallMs + this.#options.intervalMs;
  }

  #onSuccess(): void {
    this.#failures = 0;
    this.#lastError = "";
    this.#retryAtMs = Number.NEGATIVE_INFINITY;
    this.#lastSuccessMs = this.#options.clock.wallMs();
  }

  async #onFailure(error: Error): Promise<void> {
    const { clock, log, target } = this.#options;
    const isOfMember = error instanceof StateExportEnded || error instanceof CoordinationError;
    const pauseMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(this.#failures, 10));
    this.#retryAtMs = clock.monotonicMs() + pauseMs;
    this.#lastError = error.message;
    if (!isOfMember) {
      // Another member may reach the store. Problems of this member alone pass.
      this.#failures++;
      this.#failuresTotal++;
    }
    log.warn({ reason: error.message, failures: this.#failures, pauseMs }, "archiving failed, and the member retries");
    await target.close();
  }
}
