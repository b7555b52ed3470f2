/** What the page shows of backups, from the answers of all members. */

import type { BackupList, BackupStatus } from "../../api/index.ts";

/** The backups of one member. */
export interface MemberBackupState {
  readonly id: string;
  readonly name: string;
  /** Null if the member did not answer. */
  readonly status: BackupStatus | null;
  /** Why it did not answer. */
  readonly problem: string;
}

export interface BackupState {
  readonly members: readonly MemberBackupState[];
  /** Null if the store cannot be read. */
  readonly list: BackupList | null;
  /** Why the store cannot be read. */
  readonly problem: string;
}

/** The archive as the member knows it that archives; undefined if no member does. */
export function archiveOf(members: readonly MemberBackupState[]): BackupStatus["archive"] {
  const archives = members.map(({ id, status }) => ({ id, archive: status?.archive }));
  const own = archives.find(({ id, archive }) => archive !== undefined && archive.archiverId === id);
  return (own ?? archives.find(({ archive }) => archive !== undefined))?.archive;
}

/** What a person must know: what cannot be read, what is damaged, what is missing. */
export function backupProblems({ members, list, problem }: BackupState): readonly string[] {
  const archive = archiveOf(members);
  return [
    ...(problem === "" ? [] : [problem]),
    ...(list?.problems ?? []),
    ...(archive?.chainBroken === true
      ? ["The chain of the archive is broken: later changes can be restored only from the next snapshot on."]
      : []),
    ...(archive === undefined || archive.lastError === "" ? [] : [`Archiving fails: ${archive.lastError}`]),
    ...members.flatMap(({ name, status }) =>
      isDamaged(status) ? (status?.damagedObjects ?? []).map((object) => `${name} found damage in ${object}`) : [],
    ),
  ];
}

/** Whether the last verification found damage. */
export function isDamaged(status: BackupStatus | null): boolean {
  return status !== null && Number(status.damageFoundMs) > Number(status.verifiedMs);
}
