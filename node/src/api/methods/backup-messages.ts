/** Messages about the backups of one member: snapshots, their verification, and the archive as this member knows it. */

import type { Chain } from "@quoin/backup";
import {
  type ArchiveStatus,
  type BackupEntry,
  BackupPhase,
  type BackupRun as BackupRunMessage,
  type GetBackupStatusResponse,
} from "@quoin/proto";
import type { BackupRun, MemberBackups } from "../../archive/index.ts";
import { memberIdText } from "./member-messages.ts";

const DAMAGED_MAX = 100;

const PHASES = {
  pending: BackupPhase.BACKUP_PENDING,
  running: BackupPhase.BACKUP_RUNNING,
  succeeded: BackupPhase.BACKUP_SUCCEEDED,
  failed: BackupPhase.BACKUP_FAILED,
} as const;

/** @param id of a backup; empty = the running backup, or else the last one. */
export function backupStatus(backups: MemberBackups, id: string): GetBackupStatusResponse {
  const { runs, target, archiver, verification } = backups;
  const run = id === "" ? runs?.newest : runs?.get(id);
  return {
    store: target?.address ?? "",
    encrypted: target?.isEncrypted ?? false,
    run: run === null || run === undefined ? undefined : runMessage(run),
    archive: archiveStatus(backups),
    nextSnapshotMs: BigInt(Math.round(archiver?.nextSnapshotMs ?? 0)),
    verifiedMs: BigInt(Math.round(verification?.succeededMs ?? 0)),
    damageFoundMs: BigInt(Math.round(verification?.failedMs ?? 0)),
    damagedObjects: [...(verification?.damaged ?? [])].slice(0, DAMAGED_MAX),
  };
}

function archiveStatus({ archiver, host }: MemberBackups): ArchiveStatus | undefined {
  if (archiver === null) {
    return undefined;
  }
  const { report, lease } = archiver;
  const archiverId = archiver.isArchiving ? host.memberId : lease.archiverId;
  return {
    enabled: true,
    archiverId: archiverId === 0 ? "" : memberIdText(archiverId),
    archivedIndex: BigInt(report.index),
    archivedRevision: BigInt(report.revision),
    archivedWallMs: BigInt(report.wallMs),
    lagMs: BigInt(Math.round(archiver.lagMs)),
    chainIndex: BigInt(report.chainIndex),
    chainBroken: report.isBroken,
    chainBreaks: BigInt(report.breaks),
    lastSuccessMs: BigInt(report.lastSuccessMs),
    failures: BigInt(report.failures),
    lastError: archiver.lastError,
  };
}

function runMessage(run: BackupRun): BackupRunMessage {
  const { id, phase, snapshot, progress, startedMs, endedMs, error, isLeaderless } = run;
  const { index = 0, revision = 0, wallMs = 0 } = snapshot?.header ?? {};
  return {
    id,
    phase: PHASES[phase],
    object: snapshot?.name ?? "",
    error,
    leaderless: isLeaderless,
    index: BigInt(index),
    revision: BigInt(revision),
    wallMs: BigInt(wallMs),
    bytes: BigInt(progress.bytes),
    rows: BigInt(progress.rows),
    startedMs: BigInt(startedMs),
    endedMs: BigInt(endedMs),
  };
}

/** A snapshot in the store, and what can be restored from it. */
export function backupEntry({ snapshot, segments, end }: Chain): BackupEntry {
  const { id, name: object, index, revision, wallMs, size } = snapshot;
  return {
    id,
    object,
    index: BigInt(index),
    revision: BigInt(revision),
    wallMs: BigInt(wallMs),
    sizeBytes: BigInt(size),
    segments: BigInt(segments.length),
    segmentBytes: BigInt(segments.reduce((bytes, segment) => bytes + segment.size, 0)),
    endIndex: BigInt(end.index),
    endRevision: BigInt(end.revision ?? 0),
    endWallMs: BigInt(end.wallMs ?? 0),
  };
}
