/** Metrics of a member and of its part in the consensus. */

import { readCluster } from "../state/index.ts";
import { counter, gauge, histogram, LONG_BOUNDS, type Metric, SHORT_BOUNDS } from "../telemetry/index.ts";
import type { Member } from "./member.ts";
import type { Replica } from "./replica.ts";
import type { PeerReport } from "./replica-report.ts";
import type { CopyStatistics } from "./replica-statistics.ts";

const MS_PER_SECOND = 1000;
const ROLES = ["leader", "follower", "candidate"] as const;

export const RAFT_METRICS: readonly Metric<Member>[] = [
  gauge({
    name: "quoin_member_info",
    help: "Which member this is; always 1. The id is that of its slot, 0 before it has one.",
    labels: ["name", "member_id", "cluster"],
    read: ({ name, memberId, clusterName }) => [[[name, String(memberId), clusterName], 1]],
  }),
  gauge({
    name: "quoin_member_state",
    help: "1 for the state that the member is in, as GetStatus tells it.",
    labels: ["state"],
    read: ({ state }) => [[[state], 1]],
  }),
  gauge({
    name: "quoin_member_alarms",
    help: "How many things are wrong with the member that GetStatus names.",
    read: ({ alarms, replica }) => alarms.length + (replica?.status().alarms.length ?? 0),
  }),
  gauge({
    name: "quoin_raft_role",
    help: "1 for the role that the member has in the consensus, 0 for the others.",
    labels: ["role"],
    read: served((replica) => ROLES.map((role) => [[role], Number(replica.status().role === role)])),
  }),
  gauge({
    name: "quoin_raft_learner",
    help: "1 while the member has no vote.",
    read: served((replica) => Number(replica.status().isLearner)),
  }),
  gauge({
    name: "quoin_raft_term",
    help: "The term that the member knows.",
    read: served((replica) => replica.status().term),
  }),
  gauge({
    name: "quoin_cluster_version",
    help: "The cluster version in force, as far as the member has applied: which entries there are, and what they come to.",
    read: served((replica) => readCluster(replica.state)?.version ?? 0),
  }),
  gauge({
    name: "quoin_raft_leader_known",
    help: "1 while the member has heard a leader lately, or is one.",
    read: served((replica) => Number(replica.status().leaderId !== 0)),
  }),
  counter({
    name: "quoin_raft_leader_changes_total",
    help: "How often the member has seen another leader than before.",
    read: served(({ statistics }) => statistics.leaderChanges),
  }),
  counter({
    name: "quoin_raft_elections_total",
    help: "How often the member has become a candidate.",
    read: served(({ statistics }) => statistics.elections),
  }),
  gauge({
    name: "quoin_raft_commit_index",
    help: "Up to which entry of the Raft log everything is committed, as far as the member knows.",
    read: served((replica) => replica.status().commitIndex),
  }),
  gauge({
    name: "quoin_raft_applied_index",
    help: "Up to which entry of the Raft log the member has applied everything.",
    read: served((replica) => replica.status().appliedIndex),
  }),
  gauge({
    name: "quoin_raft_last_index",
    help: "The last entry of the Raft log of the member.",
    read: served((replica) => replica.status().lastIndex),
  }),
  gauge({
    name: "quoin_raft_log_entries",
    help: "Entries that are kept in the Raft log of the member.",
    read: served((replica) => replica.status().lastIndex - replica.status().firstIndex + 1),
  }),
  gauge({
    name: "quoin_raft_applied_lag_seconds",
    help: "For how long something has been committed that the member has not applied, as far as the leader has told it.",
    read: served((replica) => replica.status().lagMs / MS_PER_SECOND),
  }),
  counter({
    name: "quoin_raft_proposals_total",
    help:
      "Calls at this member that were to be logged: applied, applied and refused by the state, certainly not executed, " +
      "or of unknown outcome.",
    labels: ["outcome"],
    read: served(({ statistics }) => labelled(statistics.proposals)),
  }),
  counter({
    name: "quoin_raft_proposals_forwarded_total",
    help: "Attempts of calls at this member that were handed to a leader elsewhere.",
    read: served(({ statistics }) => statistics.forwarded),
  }),
  histogram({
    name: "quoin_raft_append_duration_seconds",
    help: "From handing entries to the log until the member knows that they are durable on its disk.",
    bounds: SHORT_BOUNDS,
    read: served(({ statistics }) => statistics.appends),
  }),
  gauge({
    name: "quoin_raft_peer_missing_entries",
    help: "At the leader: entries that another member is not known to have.",
    labels: ["peer"],
    read: served((replica) => ofPeers(replica, ({ missingEntries }) => missingEntries)),
  }),
  gauge({
    name: "quoin_raft_peer_lag_seconds",
    help: "At the leader: age of the oldest committed entry that another member is not known to have.",
    labels: ["peer"],
    read: served((replica) => ofPeers(replica, ({ lagMs }) => lagMs / MS_PER_SECOND)),
  }),
  gauge({
    name: "quoin_raft_peer_contact_age_seconds",
    help: "At the leader: how long ago another member was heard; +Inf if it never was.",
    labels: ["peer"],
    read: served((replica) => ofPeers(replica, ({ contactAgeMs }) => contactAgeMs / MS_PER_SECOND)),
  }),
  gauge({
    name: "quoin_raft_divergent_peers",
    help: "At the leader: members that had another state than it at the same entry.",
    read: served(({ report }) => report.divergences.length),
  }),
  counter({
    name: "quoin_raft_snapshots_total",
    help: "Snapshots of the state that have ended, sent to other members or received from one.",
    labels: ["direction", "result"],
    read: served((replica) =>
      copies(replica).flatMap(([direction, { completed, failed }]) => [
        [[direction, "completed"], completed],
        [[direction, "failed"], failed],
      ]),
    ),
  }),
  histogram({
    name: "quoin_raft_snapshot_duration_seconds",
    help: "How long snapshots took that were sent, or received, as a whole.",
    labels: ["direction"],
    bounds: LONG_BOUNDS,
    read: served((replica) => copies(replica).map(([direction, { durations }]) => [[direction], durations])),
  }),
];

/** What is read of a replica; nothing while the member serves none. */
export function served<Reading>(read: (replica: Replica) => Reading): (member: Member) => Reading | null {
  return ({ replica }) => (replica === null ? null : read(replica));
}

/** Counts by name, as values of one label. */
export function labelled(counts: ReadonlyMap<string, number>): [labels: [string], count: number][] {
  return [...counts].map(([name, count]) => [[name], count]);
}

/** By name where it is known, which outlives a member that is replaced; else by id. */
function ofPeers(replica: Replica, read: (peer: PeerReport) => number): [labels: [string], value: number][] {
  const names = new Map(readCluster(replica.state)?.members.map(({ id, name }) => [id, name]));
  return replica.report.peers().map((peer) => [[names.get(peer.id) ?? String(peer.id)], read(peer)]);
}

function copies({ statistics }: Replica): readonly [direction: string, copies: CopyStatistics][] {
  return [
    ["sent", statistics.snapshotsSent],
    ["received", statistics.snapshotsReceived],
  ];
}
