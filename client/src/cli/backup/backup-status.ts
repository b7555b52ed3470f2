/** `quoinctl backup status` and `backup start`: the backups of members in their own stores. */

import { type AdminClient, type BackupRun, type BackupStatus, QuoinError } from "../../index.ts";
import { CommandError, EXIT_CODES, UsageError } from "../errors/index.ts";
import { type Cell, withProgressLine } from "../output/index.ts";
import type { Session } from "../session/index.ts";
import { escapeControls, formatMilliseconds, formatSize } from "../text/index.ts";
import { adminFailure, atBestMember, atEachPort, type QueriedMember } from "./backup-member.ts";
import type { StartOptions } from "./backup-options.ts";

/** A member and its answer. */
interface Reported {
  readonly endpoint: string;
  readonly answer: BackupStatus | QuoinError;
}

/** Hanging members must not hide the others for long. */
const STATUS_TIMEOUT_MS = 2_000;
/** The pause between two status requests, in milliseconds. */
const POLL_PAUSE_MS = 500;

const COLUMNS = [
  "ENDPOINT",
  "STORE",
  "ENCRYPTED",
  "LAST BACKUP",
  "PHASE",
  "ROWS",
  "BYTES",
  "ENDED",
  "ARCHIVE",
  "UP TO REVISION",
  "LAG",
];

/** Shows all members, or those that know the backup. */
export async function showBackupStatus(session: Session, id: string | undefined): Promise<void> {
  const connection = await session.findAdminConnection();
  const answers = await atEachPort(connection, session.timeoutMs ?? STATUS_TIMEOUT_MS, (admin) =>
    admin.getBackupStatus(id ?? ""),
  );
  const all = connection.endpoints.map((endpoint, at): Reported => ({ endpoint, answer: answers[at]! }));
  if (all.every(({ answer }) => answer instanceof QuoinError)) {
    throw adminFailure(all[0]?.answer);
  }
  const reported = id === undefined ? all : all.filter(({ answer }) => isKnown(answer));
  if (id !== undefined && reported.length === 0) {
    throw new UsageError(
      `no member that answered knows backup ${id}`,
      "members know their last 16 backups since their start; list those in the store with: quoinctl backup list",
    );
  }
  await session.print({
    document: { members: reported.map(toDocument) },
    shown: { columns: COLUMNS, rows: reported.map(toRow) },
  });
  for (const { endpoint, answer } of reported) {
    if (answer instanceof QuoinError) {
      continue;
    }
    if (answer.run !== undefined && answer.run.error !== "") {
      noteOf(session, endpoint, `the backup failed: ${answer.run.error}`);
    }
    if (answer.run?.leaderless === true) {
      noteOf(session, endpoint, "it had no leader, so the backup may miss acknowledged writes");
    }
    if (answer.archive !== undefined && answer.archive.lastError !== "") {
      noteOf(session, endpoint, `archiving failed: ${answer.archive.lastError}`);
    }
  }
}

/** Starts a backup to the store of a member; with --wait, waits for its end. */
export async function startBackup(session: Session, options: StartOptions): Promise<void> {
  const { ifStore, allowLeaderless, wait = false } = options;
  await atBestMember(session, async (admin, member) => {
    const id = await admin.startBackup({ ifStore, allowLeaderless }).catch(explainLeaderless);
    if (!wait) {
      await session.print({
        document: { id, member: member.name, endpoint: member.endpoint },
        shown: { columns: ["ID", "MEMBER"], rows: [[id, member.name]] },
      });
      session.note(`see its progress with: quoinctl backup status ${id}`);
      return;
    }
    await printRun(session, member, await untilEnded(session, admin, id));
  });
}

function explainLeaderless(error: unknown): never {
  if (!(error instanceof QuoinError) || error.reason !== "NO_LEADER") {
    throw error;
  }
  throw new CommandError(
    `${error.message} (NO_LEADER)`,
    EXIT_CODES.unavailable,
    "to make it anyway, pass --allow-leaderless",
    { cause: error },
  );
}

async function untilEnded(session: Session, admin: AdminClient, id: string): Promise<BackupRun> {
  return withProgressLine(session, async (line) => {
    for (;;) {
      const { run } = await admin.getBackupStatus(id);
      if (run === undefined) {
        throw new CommandError(
          `the member no longer knows backup ${id}: it was restarted in the meantime`,
          EXIT_CODES.refused,
          "check the store with: quoinctl backup list",
        );
      }
      if (run.endedMs !== 0) {
        return run;
      }
      line.show(`${phaseOf(run)}: ${run.rows} rows, ${formatSize(run.bytes)}`);
      await session.terminal.runtime.sleep(POLL_PAUSE_MS, undefined);
    }
  });
}

async function printRun(session: Session, member: QueriedMember, run: BackupRun): Promise<void> {
  if (run.phase !== "BACKUP_SUCCEEDED") {
    throw new CommandError(`the backup of ${member.name} failed: ${run.error}`, EXIT_CODES.refused);
  }
  const { id, object, index, revision, rows, bytes, leaderless } = run;
  await session.print({
    document: { ...runDocument(run), member: member.name, endpoint: member.endpoint },
    shown: {
      columns: ["ID", "MEMBER", "INDEX", "REVISION", "ROWS", "BYTES", "OBJECT"],
      rows: [[id, member.name, index, revision, rows, formatSize(bytes), object]],
    },
  });
  if (leaderless) {
    session.warn(`${member.name} had no leader, so the backup may miss acknowledged writes`);
  }
}

function isKnown(answer: Reported["answer"]): boolean {
  return !(answer instanceof QuoinError) && answer.run !== undefined;
}

function noteOf(session: Session, endpoint: string, text: string): void {
  session.note(escapeControls(`${endpoint}: ${text}`));
}

function phaseOf({ phase }: BackupRun): string {
  return phase.replace(/^BACKUP_/, "");
}

function toDocument({ endpoint, answer }: Reported): object {
  if (answer instanceof QuoinError) {
    return { endpoint, error: { code: answer.code, reason: answer.reason, message: answer.message } };
  }
  const { store, encrypted, run, archive, nextSnapshotMs } = answer;
  return {
    endpoint,
    store: store === "" ? null : store,
    encrypted,
    run: run === undefined ? null : runDocument(run),
    archive:
      archive === undefined
        ? null
        : {
            archiver_id: archive.archiverId,
            archived_index: archive.archivedIndex,
            archived_revision: archive.archivedRevision,
            archived_wall_ms: archive.archivedWallMs,
            lag_ms: archive.lagMs,
            chain_index: archive.chainIndex,
            chain_broken: archive.chainBroken,
            chain_breaks: archive.chainBreaks,
            last_success_ms: archive.lastSuccessMs,
            failures: archive.failures,
            last_error: archive.lastError,
          },
    next_snapshot_ms: nextSnapshotMs === 0 ? null : nextSnapshotMs,
  };
}

function runDocument(run: BackupRun): object {
  const { id, object, index, revision, wallMs, bytes, rows, startedMs, endedMs, error, leaderless } = run;
  return {
    id,
    phase: run.phase,
    object: object === "" ? null : object,
    index,
    revision,
    wall_ms: wallMs,
    bytes,
    rows,
    started_ms: startedMs,
    ended_ms: endedMs === 0 ? null : endedMs,
    error,
    leaderless,
  };
}

function toRow({ endpoint, answer }: Reported): readonly Cell[] {
  if (answer instanceof QuoinError) {
    return [endpoint, answer.reason || answer.code, ...COLUMNS.slice(2).map(() => undefined)];
  }
  const { store, encrypted, run, archive } = answer;
  const ofRun =
    run === undefined
      ? Array<Cell>(5).fill(undefined)
      : [run.id, phaseOf(run), run.rows, formatSize(run.bytes), run.endedMs === 0 ? undefined : new Date(run.endedMs)];
  const ofArchive =
    archive === undefined
      ? ["off", undefined, undefined]
      : [archiveState(archive), archive.archivedRevision, formatMilliseconds(archive.lagMs)];
  return [endpoint, store === "" ? "none" : store, encrypted ? "yes" : "no", ...ofRun, ...ofArchive];
}

function archiveState({ archiverId, chainBroken }: NonNullable<BackupStatus["archive"]>): string {
  if (chainBroken) {
    return "broken";
  }
  return archiverId === "" ? "no member" : `by member ${archiverId}`;
}
