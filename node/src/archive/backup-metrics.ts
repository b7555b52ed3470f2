/** Metrics of a member's backups, and of the archive as far as the member knows. */

import { counter, gauge, type Metric } from "../telemetry/index.ts";
import type { MemberBackups } from "./member-backups.ts";

const MS_PER_SECOND = 1000;

export const BACKUP_METRICS: readonly Metric<MemberBackups>[] = [
  gauge({
    name: "quoin_backup_last_success_timestamp_seconds",
    help: "Time of the newest complete snapshot that this member knows, in seconds since 1970; absent = none.",
    read: ({ runs, archiver }) => {
      const newestMs = Math.max(runs?.lastSuccessMs ?? 0, archiver?.lastSnapshotMs ?? 0);
      return newestMs === 0 ? null : newestMs / MS_PER_SECOND;
    },
  }),
  gauge({
    name: "quoin_backup_running",
    help: "1 while this member writes a snapshot to its store.",
    read: ({ runs }) => (runs === null ? null : Number(runs.isRunning)),
  }),
  counter({
    name: "quoin_backup_runs_total",
    help: "Snapshots to the store that ended since the start, by result: succeeded, failed.",
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
    help: "Time when this member last read backups back, in seconds since 1970, by result: succeeded, failed (damage); 0 = never.",
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
    help: "Bytes of rows that snapshots to the store have read since the start.",
    read: ({ runs }) => runs?.counts.bytes ?? null,
  }),
  gauge({
    name: "quoin_archive_active",
    help: "1 while this member is the archiver.",
    read: ({ archiver }) => (archiver === null ? null : Number(archiver.isArchiving)),
  }),
  gauge({
    name: "quoin_archive_last_success_timestamp_seconds",
    help: "Time of the archiver's last write of a snapshot or segment, in seconds since 1970; 0 = not known.",
    read: ({ archiver }) => (archiver === null ? null : archiver.report.lastSuccessMs / MS_PER_SECOND),
  }),
  gauge({
    name: "quoin_archive_lag_seconds",
    help: "Age of the oldest applied change that is not archived: the data loss if all volumes are lost.",
    read: ({ archiver }) => (archiver === null ? null : archiver.lagMs / MS_PER_SECOND),
  }),
  gauge({
    name: "quoin_archive_index",
    help: "Last archived log index, as far as this member knows.",
    read: ({ archiver }) => archiver?.report.index ?? null,
  }),
  gauge({
    name: "quoin_archive_chain_broken",
    help: "1 while entries are missing after the chain and no snapshot has started a new one.",
    read: ({ archiver }) => (archiver === null ? null : Number(archiver.report.isBroken)),
  }),
  counter({
    name: "quoin_archive_chain_breaks_total",
    help: "Chains that broke while this member archived, since its start.",
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
