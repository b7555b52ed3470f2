/**
 * Snapshots that this member writes to its store, one at a time, and the results of the last ones. A failed run leaves
 * no object: a store shows an object only when it is complete.
 */

import { BackupError, StoreFailure } from "@quoin/backup";
import { type Clock, type StateExport, StateExportEnded } from "../replica/index.ts";
import { CoordinationError } from "../state/index.ts";
import type { ArchiveHost, BackupLog } from "./archive-host.ts";
import type { BackupTarget } from "./backup-target.ts";
import { type SnapshotProgress, snapshotHeader, storeSnapshot, type TakenSnapshot } from "./taken-snapshot.ts";

export type BackupPhase = "pending" | "running" | "succeeded" | "failed";

/** One snapshot, running or ended. */
export interface BackupRun {
  readonly id: string;
  readonly phase: BackupPhase;
  /** Null until the state is read. */
  readonly snapshot: Pick<TakenSnapshot, "header" | "name"> | null;
  /** Rows written, and their bytes. */
  readonly progress: Readonly<SnapshotProgress>;
  readonly startedMs: number;
  /** 0 = still running. */
  readonly endedMs: number;
  /** Why it failed; "" if it did not. */
  readonly error: string;
  /** Whether the member had no leader at the start. */
  readonly isLeaderless: boolean;
}

export interface BackupRunsOptions {
  readonly host: ArchiveHost;
  readonly target: BackupTarget;
  readonly clock: Clock;
  readonly log: BackupLog;
  /** Makes the id of each snapshot. */
  readonly newId: () => string;
  /** Called after each snapshot that is in the store. */
  readonly onTaken: () => void;
}

/** How many runs are kept. */
const KEPT_MAX = 16;
/** How long a snapshot waits for an up-to-date state, in milliseconds. */
const BARRIER_MS = 10_000;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export class BackupRuns {
  readonly #options: BackupRunsOptions;
  readonly #runs: Mutable<BackupRun>[] = [];
  /** Run ids by the request that started them, so that a retry starts no second run. */
  readonly #byRequest = new Map<string, string>();
  #succeeded = 0;
  #failed = 0;
  #bytes = 0;
  #lastSuccessMs = 0;

  constructor(options: BackupRunsOptions) {
    this.#options = options;
  }

  /** The current run, or else the last one. */
  get newest(): BackupRun | null {
    return this.#runs.at(-1) ?? null;
  }

  get isRunning(): boolean {
    return this.newest !== null && this.newest.endedMs === 0;
  }

  /** When the last one succeeded, in milliseconds since 1970; 0 = never. */
  get lastSuccessMs(): number {
    return this.#lastSuccessMs;
  }

  /** Runs by result, and bytes of rows written. */
  get counts() {
    return { succeeded: this.#succeeded, failed: this.#failed, bytes: this.#bytes };
  }

  get(id: string): BackupRun | null {
    return this.#runs.find((run) => run.id === id) ?? null;
  }

  /** The run that the request started; null if there is none, or it is no longer kept. */
  ofRequest(requestId: string): BackupRun | null {
    return this.get(this.#byRequest.get(requestId) ?? "");
  }

  /**
   * Starts a snapshot. Raises BACKUP_IN_PROGRESS, and NO_LEADER if the member has no leader and that is not allowed.
   *
   * @param requestId identifies retries; "" = none
   */
  start(allowLeaderless: boolean, requestId = ""): { readonly id: string; readonly done: Promise<TakenSnapshot> } {
    const { host, clock, newId } = this.#options;
    if (this.isRunning) {
      throw new CoordinationError(
        "BACKUP_IN_PROGRESS",
        `this member is taking backup ${this.newest?.id}. Wait until it has ended, or use another member`,
      );
    }
    const isLeaderless = (host.replica?.status().leaderId ?? 0) === 0;
    if (isLeaderless && !allowLeaderless) {
      throw new CoordinationError("NO_LEADER", "this member has no leader, so a backup may miss acknowledged writes");
    }
    const run: Mutable<BackupRun> = {
      id: newId(),
      phase: "pending",
      snapshot: null,
      progress: { rows: 0, bytes: 0 },
      startedMs: clock.wallMs(),
      endedMs: 0,
      error: "",
      isLeaderless,
    };
    this.#remember(run, requestId);
    const done = this.#run(run, isLeaderless);
    // The caller need not wait: the status of the run shows a failure.
    done.catch(() => undefined);
    return { id: run.id, done };
  }

  #remember(run: Mutable<BackupRun>, requestId: string): void {
    this.#runs.push(run);
    if (requestId !== "") {
      this.#byRequest.set(requestId, run.id);
    }
    if (this.#runs.length > KEPT_MAX) {
      const forgotten = this.#runs.shift();
      for (const [request, id] of this.#byRequest) {
        if (id === forgotten?.id) {
          this.#byRequest.delete(request);
        }
      }
    }
  }

  async #run(run: Mutable<BackupRun>, isLeaderless: boolean): Promise<TakenSnapshot> {
    const { host, target, clock, log, onTaken } = this.#options;
    try {
      const opened = await target.open();
      const exported = await openExport(host, clock, isLeaderless);
      const header = snapshotHeader(host, exported, run.id);
      run.phase = "running";
      const taken = await storeSnapshot(opened, header, exported, run.progress);
      Object.assign(run, { phase: "succeeded", snapshot: taken });
      this.#succeeded++;
      this.#lastSuccessMs = clock.wallMs();
      const { index, revision } = header;
      log.info({ backup: run.id, object: taken.name, index, revision, ...run.progress }, "a backup was made");
      onTaken();
      return taken;
    } catch (error) {
      Object.assign(run, { phase: "failed", error: requireFailure(error).message });
      this.#failed++;
      log.error({ backup: run.id, reason: run.error }, "a backup failed");
      throw error;
    } finally {
      run.endedMs = clock.wallMs();
      this.#bytes += run.progress.bytes;
      await closeAfterFailure(target, run.phase);
    }
  }
}

async function closeAfterFailure(target: BackupTarget, phase: BackupPhase): Promise<void> {
  if (phase === "failed") {
    await target.close();
  }
}

/**
 * Opens the state of the member with every write that was acknowledged before, unless it has no leader. Raises a
 * CoordinationError: NO_LEADER, OVERLOADED, SHUTTING_DOWN.
 */
export async function openExport({ replica }: ArchiveHost, clock: Clock, isLeaderless: boolean): Promise<StateExport> {
  if (replica === null) {
    throw new CoordinationError("NO_LEADER", "this member serves no data. Use another member");
  }
  if (!isLeaderless) {
    await new Promise<void>((resolve, reject) => {
      replica.readBarrier(clock.monotonicMs() + BARRIER_MS, (error) => (error === null ? resolve() : reject(error)));
    });
  }
  const exported = replica.backups.openExport();
  if (exported === null) {
    throw replica.backups.isFull
      ? new CoordinationError("BACKUP_IN_PROGRESS", "this member makes several backups already. Wait for one to end")
      : new CoordinationError("OVERLOADED", "the state of this member cannot be read at the moment. Try again");
  }
  return exported;
}

/** The expected failures of a backup. Any other error is a bug, and ends the process. */
export function requireFailure(error: unknown): Error {
  const isExpected =
    error instanceof StoreFailure ||
    error instanceof BackupError ||
    error instanceof StateExportEnded ||
    error instanceof CoordinationError;
  if (!isExpected) {
    throw error;
  }
  return error;
}
