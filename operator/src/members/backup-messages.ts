/** Translates members' answers about backups. */
import {
  type ArchiveStatus,
  type BackupEntry,
  BackupPhase,
  type BackupRun,
  type GetBackupStatusResponse,
} from "@quoin/proto";

/** A snapshot that a member takes or took. */
export interface BackupRunReport {
  readonly id: string;
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed";
  /** Empty while it is unknown. */
  readonly object: string;
  readonly index: number;
  readonly revision: number;
  /** Milliseconds since 1970, as all times here; 0 = unknown. */
  readonly wallMs: number;
  readonly bytes: number;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly error: string;
  readonly leaderless: boolean;
}

export interface ArchiveReport {
  /** Empty while it is unknown. */
  readonly archiverId: string;
  readonly index: number;
  readonly revision: number;
  readonly wallMs: number;
  readonly lagMs: number;
  readonly isBroken: boolean;
  readonly lastSuccessMs: number;
  readonly failures: number;
  readonly lastError: string;
}

export interface BackupReport {
  /** Without secrets; empty for a member without a store. */
  readonly store: string;
  readonly encrypted: boolean;
  readonly run: BackupRunReport | null;
  /** Null if the member takes no part in the archive. */
  readonly archive: ArchiveReport | null;
}

/** A snapshot in the store of a member. */
export type StoredBackup = Pick<BackupRunReport, "id" | "object" | "index" | "revision" | "wallMs" | "bytes">;

export function backupReportOf({ store, encrypted, run, archive }: GetBackupStatusResponse): BackupReport {
  return {
    store,
    encrypted,
    run: run === undefined ? null : runOf(run),
    archive: archive?.enabled === true ? archiveOf(archive) : null,
  };
}

export function storedBackupOf({ id, object, index, revision, wallMs, sizeBytes }: BackupEntry): StoredBackup {
  return {
    id,
    object,
    index: Number(index),
    revision: Number(revision),
    wallMs: Number(wallMs),
    bytes: Number(sizeBytes),
  };
}

function runOf({ id, phase, object, error, leaderless, ...numbers }: BackupRun): BackupRunReport {
  return {
    id,
    object,
    error,
    leaderless,
    phase: phaseOf(phase),
    index: Number(numbers.index),
    revision: Number(numbers.revision),
    wallMs: Number(numbers.wallMs),
    bytes: Number(numbers.bytes),
    startedMs: Number(numbers.startedMs),
    endedMs: Number(numbers.endedMs),
  };
}

/** An unknown phase counts as not ended. */
function phaseOf(phase: BackupPhase): BackupRunReport["phase"] {
  switch (phase) {
    case BackupPhase.BACKUP_PENDING:
      return "Pending";
    case BackupPhase.BACKUP_SUCCEEDED:
      return "Succeeded";
    case BackupPhase.BACKUP_FAILED:
      return "Failed";
    default:
      return "Running";
  }
}

function archiveOf({ archiverId, chainBroken, lastError, ...numbers }: ArchiveStatus): ArchiveReport {
  return {
    archiverId,
    isBroken: chainBroken,
    lastError,
    index: Number(numbers.archivedIndex),
    revision: Number(numbers.archivedRevision),
    wallMs: Number(numbers.archivedWallMs),
    lagMs: Number(numbers.lagMs),
    lastSuccessMs: Number(numbers.lastSuccessMs),
    failures: Number(numbers.failures),
  };
}
