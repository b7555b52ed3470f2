/** Metrics of the disk of a member, and of the stores on it. */

import { counter, gauge, histogram, type Metric, SHORT_BOUNDS } from "../telemetry/index.ts";
import type { Member } from "./member.ts";
import { served } from "./raft-metrics.ts";

const SPACES = ["ok", "low", "full"] as const;
const STORES = ["raft", "state"] as const;

export const STORAGE_METRICS: readonly Metric<Member>[] = [
  histogram({
    name: "quoin_storage_log_write_duration_seconds",
    help: "Writing and syncing entries of the Raft log, in the thread that does it.",
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
  histogram({
    name: "quoin_storage_state_batch_duration_seconds",
    help: "Writing what applied entries have changed, to memory after each slice and from there to RocksDB, on the event loop.",
    bounds: SHORT_BOUNDS,
    read: served(({ statistics }) => statistics.stateBatches),
  }),
  histogram({
    name: "quoin_storage_state_sync_duration_seconds",
    help: "Making the state durable, during which nothing is applied.",
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
    help: "What may still be written to the file system of the data directory.",
    read: ({ diskRoom }) => diskRoom?.freeBytes ?? null,
  }),
  gauge({
    name: "quoin_storage_disk_size_bytes",
    help: "The size of that file system.",
    read: ({ diskRoom }) => diskRoom?.totalBytes ?? null,
  }),
  gauge({
    name: "quoin_storage_disk_space",
    help: "1 for how that is judged: low refuses what makes the state grow, full takes no entries at all.",
    labels: ["judgement"],
    read: ({ diskSpace }) => SPACES.map((space) => [[space], Number(space === diskSpace)]),
  }),
  gauge({
    name: "quoin_storage_disk_fit",
    help: "1 while the disk and the data on it let the member serve: not full, answering, nothing lost.",
    read: served(({ report }) => Number(report.readiness().disk === null)),
  }),
  property("estimated_keys", "estimate-num-keys", "Rows, as RocksDB estimates them."),
  property("live_data_bytes", "estimate-live-data-size", "Bytes of rows in files, as RocksDB estimates them."),
  property("files_bytes", "total-sst-files-size", "Bytes of all files with rows, also of those no longer needed."),
  property("memtable_bytes", "size-all-mem-tables", "Bytes of the tables in memory."),
  property("block_cache_bytes", "block-cache-usage", "Bytes in the cache of blocks."),
  property("block_cache_capacity_bytes", "block-cache-capacity", "Bytes that fit into the cache of blocks."),
  property("table_readers_bytes", "estimate-table-readers-mem", "Memory of indexes and filters outside of the cache."),
  property("pending_compaction_bytes", "estimate-pending-compaction-bytes", "Bytes that are waiting to be compacted."),
  property("running_compactions", "num-running-compactions", "Compactions that run."),
  property("running_flushes", "num-running-flushes", "Tables in memory that are being written to files."),
  property("background_errors", "background-errors", "Errors of flushes and compactions since the store was opened."),
  property("write_stopped", "is-write-stopped", "1 while RocksDB takes no writes because it cannot keep up."),
  property(
    "delayed_write_bytes_per_second",
    "actual-delayed-write-rate",
    "To what writes are slowed; 0 if they are not.",
  ),
];

/** A number that RocksDB tells of each of the two stores. */
function property(name: string, rocksdbName: string, help: string): Metric<Member> {
  return gauge({
    name: `quoin_rocksdb_${name}`,
    help,
    labels: ["store"],
    read: (member) =>
      STORES.flatMap((store) => {
        const value = member.storeProperty(store, `rocksdb.${rocksdbName}`);
        return value === null ? [] : [[[store], value] as const];
      }),
  });
}
