/** Metrics of the disk of a member, and of the stores on it. */

import { counter, gauge, histogram, type Metric, SHORT_BOUNDS } from "../../telemetry/index.ts";
import type { Member } from "../member/index.ts";
import { served } from "./raft-metrics.ts";

const SPACES = ["ok", "low", "full"] as const;

export const STORAGE_METRICS: readonly Metric<Member>[] = [
  histogram({
    name: "quoin_storage_log_write_duration_seconds",
    help: "Time to write and sync entries of the Raft log, measured in the log thread.",
    bounds: SHORT_BOUNDS,
    read: served(({ statistics }) => statistics.logWrites),
  }),
  counter({
    name: "quoin_storage_log_written_entries_total",
    help: "Entries that were written to the Raft log.",
    read: served(({ statistics }) => statistics.logEntries),
  }),
  counter({
    name: "quoin_storage_log_written_bytes_total",
    help: "Bytes of entries that were written to the Raft log.",
    read: served(({ statistics }) => statistics.logBytes),
  }),
  gauge({
    name: "quoin_storage_log_files_bytes",
    help: "Bytes of the files of the Raft log.",
    read: ({ logBytes }) => logBytes,
  }),
  histogram({
    name: "quoin_storage_state_batch_duration_seconds",
    help: "Time on the event loop to write the changes of applied entries to memory, and from there to RocksDB.",
    bounds: SHORT_BOUNDS,
    read: served(({ statistics }) => statistics.stateBatches),
  }),
  histogram({
    name: "quoin_storage_state_sync_duration_seconds",
    help: "Time to sync the state to disk. Nothing is applied meanwhile.",
    bounds: SHORT_BOUNDS,
    read: served(({ statistics }) => statistics.stateSyncs),
  }),
  counter({
    name: "quoin_storage_applied_entries_total",
    help: "Entries of the Raft log that were applied since the start.",
    read: served(({ statistics }) => statistics.appliedEntries),
  }),
  gauge({
    name: "quoin_storage_disk_free_bytes",
    help: "Free bytes on the file system of the data directory.",
    read: ({ fileSystemSpace }) => fileSystemSpace?.freeBytes ?? null,
  }),
  gauge({
    name: "quoin_storage_disk_size_bytes",
    help: "Size of the file system of the data directory.",
    read: ({ fileSystemSpace }) => fileSystemSpace?.totalBytes ?? null,
  }),
  gauge({
    name: "quoin_storage_disk_space",
    help: "1 for the current judgement of the disk: low refuses commands that grow the state, full takes no entries.",
    labels: ["judgement"],
    read: ({ diskSpace }) => SPACES.map((space) => [[space], Number(space === diskSpace)]),
  }),
  gauge({
    name: "quoin_storage_disk_fit",
    help: "1 while disk and data are healthy: the disk is not full and answers, and no data is lost.",
    read: served(({ report }) => Number(report.readiness().disk === null)),
  }),
  property("estimated_keys", "estimate-num-keys", "Rows, as RocksDB estimates them."),
  property("live_data_bytes", "estimate-live-data-size", "Bytes of rows in files, as RocksDB estimates them."),
  property("files_bytes", "total-sst-files-size", "Bytes of all table files, including obsolete ones."),
  property("memtable_bytes", "size-all-mem-tables", "Bytes of all memtables."),
  property("block_cache_bytes", "block-cache-usage", "Bytes in the block cache."),
  property("block_cache_capacity_bytes", "block-cache-capacity", "Capacity of the block cache in bytes."),
  property(
    "table_readers_bytes",
    "estimate-table-readers-mem",
    "Memory of indexes and filters outside of the block cache.",
  ),
  property("pending_compaction_bytes", "estimate-pending-compaction-bytes", "Bytes that wait for compaction."),
  property("running_compactions", "num-running-compactions", "Running compactions."),
  property("running_flushes", "num-running-flushes", "Running flushes of memtables to files."),
  property("background_errors", "background-errors", "Errors of flushes and compactions since the store was opened."),
  property("write_stopped", "is-write-stopped", "1 while RocksDB takes no writes because it cannot keep up."),
  property(
    "delayed_write_bytes_per_second",
    "actual-delayed-write-rate",
    "Rate to which RocksDB slows writes; 0 if it does not.",
  ),
];

/** A RocksDB property of the store. Its label is from when the Raft log was a store too. */
function property(name: string, rocksdbName: string, help: string): Metric<Member> {
  return gauge({
    name: `quoin_rocksdb_${name}`,
    help,
    labels: ["store"],
    read: (member) => {
      const value = member.stateProperty(`rocksdb.${rocksdbName}`);
      return value === null ? [] : [[["state"], value]];
    },
  });
}
