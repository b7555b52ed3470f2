/** Metrics of the watches of a member. */

import { counter, gauge, type Metric } from "../telemetry/index.ts";
import type { WatchStatistics } from "./watch-hub.ts";

export const WATCH_METRICS: readonly Metric<{ readonly statistics: WatchStatistics }>[] = [
  gauge({
    name: "quoin_watch_streams",
    help: "Watches that are open at this member.",
    read: ({ statistics }) => statistics.streams,
  }),
  gauge({
    name: "quoin_watch_catching_up",
    help: "Watches that have not yet got all changes that exist for them.",
    read: ({ statistics }) => statistics.catchingUp,
  }),
  gauge({
    name: "quoin_watch_queued",
    help: "Watches in the queue of the next turns.",
    read: ({ statistics }) => statistics.queued,
  }),
  counter({
    name: "quoin_watch_events_sent_total",
    help: "Changes sent to watches.",
    read: ({ statistics }) => statistics.changesSent,
  }),
  counter({
    name: "quoin_watch_messages_sent_total",
    help: "Messages sent to watches, with changes or with progress.",
    read: ({ statistics }) => statistics.messagesSent,
  }),
  counter({
    name: "quoin_watch_ended_total",
    help: "Watches that this member has ended, by reason: COMPACTED = the watch was too slow.",
    labels: ["reason"],
    read: ({ statistics }) => [...statistics.ended].map(([reason, count]) => [[reason], count]),
  }),
];
