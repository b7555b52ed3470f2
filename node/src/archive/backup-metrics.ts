/** Metrics of the backups of a member, and of the archive as far as it knows. */

import { counter, gauge, type Metric } from "../telemetry/index.ts";
import type { MemberBackups } from "./member-backups.ts";

const MS_PER_SECOND = 1000;

export const BACKUP_METRICS: readonly Metric<MemberBackups>[] = [
  gauge({
    name: "quoin_backup_last_success_timestamp_seconds",
    help: "When the newest snapshot was completed that this member knows of, in seconds since 1970; absent = it knows none.",
    read: ({ runs, archiver }) => {
      const newestMs = Math.max(runs?.lastSuccessMs ?? 0, archiver?.lastSnapshotMs ?? 0);
      return newestMs === 0 ? null : newestMs / MS_PER_SECOND;
    },
  }),
  gauge({
    name: "quoin_backup_running",
    help: "1 while this member takes a snapshot into its store.",
    read: ({ runs }) => (runs === null ? null : Number(runs.isRunning)),
  }),
  counter({
    name: "quoin_backup_runs_total",
    help: "Snapshots into the store that ended since the start: succeeded, failed.",
    labels: ["result"],
    read: ({ runs }) => {
      return runs === null
        ? null
        : [
            [["succeeded"], runs.counts.succeeded],
            [["failed"], runs.counts.failed],
          ];
    },
  }),
  gauge({
    name: "quoin_backup_verified_timestamp_seconds",
    help: "When this member has last read backups back, in seconds since 1970; succeeded: all as written, failed: damage; 0 = never.",
    labels: ["result"],
    read: ({ verification }) => {
      return verification === null
        ? null
        : [
            [["succeeded"], verification.succeededMs / MS_PER_SECOND],
            [["failed"], verification.failedMs / MS_PER_SECOND],
          ];
    },
  }),
  counter({
    name: "quoin_backup_bytes_total",
    help: "Bytes of rows that snapshots into the store have read since the start.",
    read: ({ runs }) => runs?.counts.bytes ?? null,
  }),
  gauge({
    name: "quoin_archive_active",
    help: "1 while this member is the one that archives.",
    read: ({ archiver }) => (archiver === null ? null : Number(archiver.isArchiving)),
  }),
  gauge({
    name: "quoin_archive_last_success_timestamp_seconds",
    help: "When the archiving member has last written a snapshot or a segment, in seconds since 1970; 0 = not known.",
    read: ({ archiver }) => (archiver === null ? null : archiver.report.lastSuccessMs / MS_PER_SECOND),
  }),
  gauge({
    name: "quoin_archive_lag_seconds",
    help: "Age of the oldest entry that this member has applied and that is not archived: what is lost with all volumes.",
    read: ({ archiver }) => (archiver === null ? null : archiver.lagMs / MS_PER_SECOND),
  }),
  gauge({
    name: "quoin_archive_index",
    help: "Last log index that is archived, as far as this member knows.",
    read: ({ archiver }) => archiver?.report.index ?? null,
  }),
  gauge({
    name: "quoin_archive_chain_broken",
    help: "1 while entries are missing behind the chain and no snapshot has begun another one yet.",
    read: ({ archiver }) => (archiver === null ? null : Number(archiver.report.isBroken)),
  }),
  counter({
    name: "quoin_archive_chain_breaks_total",
    help: "Chains that were broken while this member archived, since its start.",
    read: ({ archiver }) => archiver?.counts.breaks ?? null,
  }),
  counter({
    name: "quoin_archive_segments_total",
    help: "Segments that this member has written since its start.",
    read: ({ archiver }) => archiver?.counts.segments ?? null,
  }),
  counter({
    name: "quoin_archive_bytes_total",
    help: "Bytes of the entries in these segments.",
    read: ({ archiver }) => archiver?.counts.bytes ?? null,
  }),
  counter({
    name: "quoin_archive_failures_total",
    help: "Attempts of this member to archive that failed since its start.",
    read: ({ archiver }) => archiver?.counts.failures ?? null,
  }),
];
