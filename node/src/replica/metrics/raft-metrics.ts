/** Metrics of a member and of its part in the consensus. */

import { readCluster } from "../../state/index.ts";
import { counter, gauge, histogram, LONG_BOUNDS, type Metric, SHORT_BOUNDS } from "../../telemetry/index.ts";
import type { CopyStatistics } from "../context/index.ts";
import type { PeerReport, Replica } from "../driver/index.ts";
import type { Member } from "../member/index.ts";

const MS_PER_SECOND = 1000;
const ROLES = ["leader", "follower", "candidate"] as const;

export const RAFT_METRICS: readonly Metric<Member>[] = [
  gauge({
    name: "quoin_member_info",
    help: "Identity of the member in its labels; always 1. member_id is the id of its slot, 0 before it has one.",
    labels: ["name", "member_id", "cluster"],
    read: ({ name, memberId, clusterName }) => [[[name, String(memberId), clusterName], 1]],
  }),
  gauge({
    name: "quoin_member_state",
    help: "1 for the current state of the member, as in GetStatus.",
    labels: ["state"],
    read: ({ state }) => [[[state], 1]],
  }),
  gauge({
    name: "quoin_member_alarms",
    help: "Number of alarms of the member, as listed in GetStatus.",
    read: ({ alarms, replica }) => alarms.length + (replica?.status().alarms.length ?? 0),
  }),
  gauge({
    name: "quoin_raft_role",
    help: "1 for the current Raft role of the member, 0 for the others.",
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
    help: "The cluster version that the member has applied. It decides which entries exist and what they do.",
    read: served((replica) => readCluster(replica.state)?.version ?? 0),
  }),
  gauge({
    name: "quoin_raft_leader_known",
    help: "1 while the member leads, or has heard a leader lately.",
    read: served((replica) => Number(replica.status().leaderId !== 0)),
  }),
  counter({
    name: "quoin_raft_leader_changes_total",
    help: "How often the member has seen a new leader.",
    read: served(({ statistics }) => statistics.leaderChanges),
  }),
  counter({
    name: "quoin_raft_elections_total",
    help: "How often the member has become a candidate.",
    read: served(({ statistics }) => statistics.elections),
  }),
  gauge({
    name: "quoin_raft_commit_index",
    help: "Index of the last Raft log entry that the member knows as committed.",
    read: served((replica) => replica.status().commitIndex),
  }),
  gauge({
    name: "quoin_raft_applied_index",
    help: "Index of the last Raft log entry that the member has applied.",
    read: served((replica) => replica.status().appliedIndex),
  }),
  gauge({
    name: "quoin_raft_last_index",
    help: "Index of the last entry in the Raft log of the member.",
    read: served((replica) => replica.status().lastIndex),
  }),
  gauge({
    name: "quoin_raft_log_entries",
    help: "Number of entries in the Raft log of the member.",
    read: served((replica) => replica.status().lastIndex - replica.status().firstIndex + 1),
  }),
  gauge({
    name: "quoin_raft_applied_lag_seconds",
    help: "Age of the oldest commit, reported by the leader, that the member has not applied.",
    read: served((replica) => replica.status().lagMs / MS_PER_SECOND),
  }),
  counter({
    name: "quoin_raft_proposals_total",
    help:
      "Calls at this member that had to be logged, by outcome: applied, refused by the state, certainly not executed, or " +
      "unknown.",
    labels: ["outcome"],
    read: served(({ statistics }) => labelled(statistics.proposals)),
  }),
  counter({
    name: "quoin_raft_proposals_forwarded_total",
    help: "Attempts of calls at this member that it forwarded to a leader elsewhere.",
    read: served(({ statistics }) => statistics.forwarded),
  }),
  histogram({
    name: "quoin_raft_append_duration_seconds",
    help: "Time from handing entries to the log until the member knows that they are durable on its disk.",
    bounds: SHORT_BOUNDS,
    read: served(({ statistics }) => statistics.appends),
  }),
  gauge({
    name: "quoin_raft_peer_missing_entries",
    help: "At the leader: entries that another member has not acknowledged.",
    labels: ["peer"],
    read: served((replica) => ofPeers(replica, ({ missingEntries }) => missingEntries)),
  }),
  gauge({
    name: "quoin_raft_peer_lag_seconds",
    help: "At the leader: age of the oldest committed entry that another member has not acknowledged.",
    labels: ["peer"],
    read: served((replica) => ofPeers(replica, ({ lagMs }) => lagMs / MS_PER_SECOND)),
  }),
  gauge({
    name: "quoin_raft_peer_contact_age_seconds",
    help: "At the leader: time since the last message of another member; +Inf if there was none.",
    labels: ["peer"],
    read: served((replica) => ofPeers(replica, ({ contactAgeMs }) => contactAgeMs / MS_PER_SECOND)),
  }),
  gauge({
    name: "quoin_raft_divergent_peers",
    help: "At the leader: members whose state differed from the leader's at the same entry.",
    read: served(({ report }) => report.divergences.length),
  }),
  counter({
    name: "quoin_raft_snapshots_total",
    help: "Snapshots of the state that were sent to other members or received from one, completed or failed.",
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
    help: "Duration of completed snapshots, sent or received.",
    labels: ["direction"],
    bounds: LONG_BOUNDS,
    read: served((replica) => copies(replica).map(([direction, { durations }]) => [[direction], durations])),
  }),
];

/** A reading of the replica; null while the member has none. */
export function served<Reading>(read: (replica: Replica) => Reading): (member: Member) => Reading | null {
  return ({ replica }) => (replica === null ? null : read(replica));
}

/** Counts by name, as values of one label. */
export function labelled(counts: ReadonlyMap<string, number>): [labels: [string], count: number][] {
  return [...counts].map(([name, count]) => [[name], count]);
}

/** Labels peers by name, which stays when a member is replaced, or by id if the name is not known. */
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
