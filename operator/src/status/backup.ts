/** The status of backups. Failing backups are shown and raise alerts, but do not affect the cluster. */
import type { BackupSummary, ConditionStatus } from "../generated/coordination-cluster.ts";
import { type Problem, timeText } from "./messages.ts";

/** An archive with a longer lag is not healthy. */
const LAG_MS_MAX = 60_000;

/** State of a cluster's backups, as its members report it. Times are milliseconds since 1970, 0 = never. */
export interface BackupView {
  /** Why the store in the specification cannot be used; null if it can. */
  readonly storeProblem: Problem | null;
  /** Whether the specification enables the archive. */
  readonly archives: boolean;
  readonly intervalMs: number;
  /** Number of members that answered. */
  readonly answered: number;
  /** Number of those that have no store yet. */
  readonly withoutStore: number;
  readonly store: string | null;
  readonly encrypted: boolean | null;
  /** Null while no member takes part in the archive. */
  readonly archive: {
    readonly archiverId: string;
    readonly revision: number;
    readonly wallMs: number;
    readonly lagMs: number;
    readonly isBroken: boolean;
    readonly failures: number;
    readonly lastError: string;
  } | null;
  readonly lastSuccessMs: number;
  /** Why the last snapshot of a member failed; null if it did not. */
  readonly lastFailure: string | null;
}

export interface BackupVerdict {
  readonly type: "BackupHealthy" | "ArchiveHealthy";
  readonly status: ConditionStatus["status"];
  readonly reason: string;
  readonly message: string;
}

export function backupVerdicts(view: BackupView, now: number): BackupVerdict[] {
  const healthy = { type: "BackupHealthy", ...backupHealth(view, now) } as const;
  return view.archives ? [healthy, { type: "ArchiveHealthy", ...archiveHealth(view) }] : [healthy];
}

type Health = Omit<BackupVerdict, "type">;

function backupHealth(view: BackupView, now: number): Health {
  const { storeProblem, lastSuccessMs, lastFailure, archives, intervalMs } = view;
  if (storeProblem !== null) {
    return { status: "False", ...storeProblem };
  }
  const unknown = unknownHealth(view);
  if (unknown !== null) {
    return unknown;
  }
  if (lastFailure !== null) {
    return { status: "False", reason: "BackupFailed", message: lastFailure };
  }
  const failing = failingHealth(view);
  if (failing !== null) {
    return failing;
  }
  if (lastSuccessMs === 0) {
    return { status: "Unknown", reason: "NoBackupYet", message: "no backup has been taken since the members started" };
  }
  return archives && now - lastSuccessMs > 2 * intervalMs
    ? { status: "False", reason: "BackupOverdue", message: `no backup succeeded since ${timeText(lastSuccessMs)}` }
    : { status: "True", reason: "BackupSucceeded", message: "the last backup succeeded" };
}

function archiveHealth(view: BackupView): Health {
  const { archive, storeProblem } = view;
  if (storeProblem !== null && archive === null) {
    return { status: "False", ...storeProblem };
  }
  const unknown = unknownHealth(view);
  if (unknown !== null) {
    return unknown;
  }
  if (archive === null || archive.archiverId === "") {
    return { status: "Unknown", reason: "NoArchiver", message: "no member archives yet" };
  }
  if (archive.isBroken) {
    const message =
      "writes are missing from the archive: the log was compacted before they reached the store. The next snapshot begins another chain";
    return { status: "False", reason: "ChainBroken", message };
  }
  if (archive.lagMs > LAG_MS_MAX) {
    const minutes = Math.floor(archive.lagMs / 60_000);
    const cause = archive.lastError === "" ? "" : `: ${archive.lastError}`;
    const message = `writes of more than ${minutes} min are not archived${cause}`;
    return { status: "False", reason: "ArchiveBehind", message };
  }
  return failingHealth(view) ?? { status: "True", reason: "Archiving", message: "writes are archived within seconds" };
}

function unknownHealth({ answered, withoutStore }: BackupView): Health | null {
  if (answered === 0) {
    return {
      status: "Unknown",
      reason: "MembersUnreachable",
      message: "no member has reported the state of its backups",
    };
  }
  return withoutStore === 0
    ? null
    : {
        status: "Unknown",
        reason: "MembersOutdated",
        message: `${withoutStore} members have no store until they are restarted`,
      };
}

function failingHealth({ archive }: BackupView): Health | null {
  return archive === null || archive.failures === 0
    ? null
    : { status: "False", reason: "StoreFails", message: archive.lastError };
}

/**
 * While no member answers, the status keeps the last answer: it shows what a restore would bring back.
 *
 * @returns undefined if no member has ever answered; the API server drops an empty object, and then refuses it
 */
export function backupSummaryOf(
  { store, encrypted, archive, lastSuccessMs }: BackupView,
  past: BackupSummary | undefined,
): BackupSummary | undefined {
  const summary = {
    ...(store === null ? {} : { store }),
    ...(encrypted === null ? {} : { encrypted }),
    ...(archive === null || archive.archiverId === "" ? {} : { archiver: archive.archiverId }),
    ...(lastSuccessMs === 0 ? {} : { lastSuccessTime: timeText(lastSuccessMs) }),
    ...(archive === null || archive.wallMs === 0
      ? {}
      : { archivedRevision: archive.revision, archivedTime: timeText(archive.wallMs) }),
  };
  return Object.keys(summary).length === 0 ? past : summary;
}
