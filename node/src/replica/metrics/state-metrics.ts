/**
 * Metrics of what clients store in the cluster. All members apply the same entries, so they report the same numbers.
 */

import { type Progress, readHistoryBounds } from "../../state/index.ts";
import { counter, gauge, histogram, LONG_BOUNDS, type Metric } from "../../telemetry/index.ts";
import type { Member } from "../member/index.ts";
import { labelled, served } from "./raft-metrics.ts";

export const STATE_METRICS: readonly Metric<Member>[] = [
  ofProgress("quoin_state_revision", "Revision of the state: number of visible changes.", ({ revision }) => revision),
  ofProgress(
    "quoin_state_data_bytes",
    "Bytes that count towards the quota of the cluster.",
    ({ dataBytes }) => dataBytes,
  ),
  ofProgress("quoin_keys", "Keys in all namespaces.", ({ totals }) => totals.keys),
  ofProgress("quoin_keys_expiring", "Keys with a time to live.", ({ expiringKeys }) => expiringKeys),
  counter({
    name: "quoin_key_changes_total",
    help: "Changes of keys that were applied since the start, by kind: put, delete, expire.",
    labels: ["kind"],
    read: served(({ statistics }) => labelled(statistics.keyChanges)),
  }),
  ofProgress("quoin_replay_rows", "Stored answers for retried requests.", ({ storedAnswers }) => storedAnswers),
  ofProgress("quoin_lock_holds", "Holds of locks and read-write locks.", ({ totals }) => totals.lockHolds),
  ofProgress("quoin_lock_waits", "Requests that wait for a lock.", ({ totals }) => totals.lockWaits),
  counter({
    name: "quoin_lock_grants_total",
    help: "Holds that began, or changed their mode, since the start: normal, downgraded, upgraded.",
    labels: ["reason"],
    read: served(({ statistics }) => labelled(statistics.lockGrants)),
  }),
  counter({
    name: "quoin_lock_releases_total",
    help: "Holds that ended since the start: normal, expired, forced, upgraded.",
    labels: ["reason"],
    read: served(({ statistics }) => labelled(statistics.lockReleases)),
  }),
  histogram({
    name: "quoin_lock_wait_duration_seconds",
    help: "Waiting time of requests that got a lock after waiting, in cluster ticks.",
    bounds: LONG_BOUNDS,
    read: served(({ statistics }) => statistics.lockWaits),
  }),
  counter({
    name: "quoin_refused_guards_total",
    help: "Writes that were refused since the start because the hold of their guard was not live.",
    read: served(({ statistics }) => statistics.refusedGuards.total),
  }),
  ofProgress("quoin_sessions", "Sessions in all namespaces.", ({ totals }) => totals.sessions),
  ofProgress("quoin_memory_regions", "Memory regions in all namespaces.", ({ totals }) => totals.memoryRegions),
  ofProgress("quoin_memory_bytes", "Total size of all memory regions.", ({ totals }) => totals.memoryBytes),
  ofProgress("quoin_event_logs", "Event logs.", ({ logs }) => logs),
  ofProgress(
    "quoin_event_log_bytes",
    "Bytes of the events of all event logs, and of their stored idempotency keys.",
    ({ eventBytes }) => eventBytes,
  ),
  counter({
    name: "quoin_event_log_appended_events_total",
    help: "Events that were appended to event logs since the start, without duplicates.",
    read: served(({ statistics }) => statistics.appendedEvents),
  }),
  counter({
    name: "quoin_event_log_appended_bytes_total",
    help: "Bytes of the payloads of these events.",
    read: served(({ statistics }) => statistics.appendedEventBytes),
  }),
  gauge({
    name: "quoin_namespace_quota_used_ratio",
    help: "Used share of a quota, in the namespace that has used the largest share of it.",
    labels: ["quota"],
    read: served(({ namespaces, state }) => namespaces.scan(state)),
  }),
  gauge({
    name: "quoin_history_bytes",
    help: "Bytes of the history that is kept for watches.",
    read: served(({ state }) => readHistoryBounds(state).bytes),
  }),
  gauge({
    name: "quoin_history_compact_revision",
    help: "The first revision at which a watch can begin, in every namespace.",
    read: served(({ state }) => readHistoryBounds(state).completeRevision),
  }),
];

/** A number from the progress of the state. */
function ofProgress(name: string, help: string, read: (progress: Progress) => number): Metric<Member> {
  return gauge({ name, help, read: served(({ report }) => read(report.progress)) });
}
