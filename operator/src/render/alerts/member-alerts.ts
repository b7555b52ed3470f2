/**
 * Alerts about members, by what they and Prometheus report. In each text, SERIES stands for the labels that select the
 * members of one cluster, POD for the label that names a member, MEMBERS for how many there should be, and SECONDS for
 * two intervals of the backups.
 *
 * A series of a member that is gone ends within minutes. So an alert about what must be there also fires when nothing is.
 */

/** An alert of Prometheus. */
export interface Alert {
  readonly name: string;
  /** In PromQL. */
  readonly when: string;
  /** How long it must be so. */
  readonly for: string;
  readonly severity: "critical" | "warning" | "info";
  /** What is wrong, in one line. */
  readonly summary: string;
  /** What it means, and what to do. */
  readonly description: string;
  /** Page and section of the manual. */
  readonly runbook: string;
}

const FAILURES = 'code=~"UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL|UNKNOWN"';
const CALLS = "quoin_grpc_requests_total";
const SYNCS = "quoin_storage_log_write_duration_seconds_bucket";
const DELAYS = "quoin_event_loop_delay_seconds_bucket";

/** Counters of these begin with their first failure, which `increase` does not see. */
function newFailures(counter: string): string {
  return `sum(increase(${counter}[15m])) > 0 or sum(${counter} unless ${counter} offset 15m) > 0`;
}

export const MEMBER_ALERTS: readonly Alert[] = [
  {
    name: "QuoinNoLeader",
    when: "max(quoin_raft_leader_known{SERIES}) < 1 or absent(quoin_raft_leader_known{SERIES})",
    for: "1m",
    severity: "critical",
    summary: "no member knows a leader, or none reports anything",
    description:
      "No majority is in contact, so no member serves writes or linearizable reads. Look for members that are down, at " +
      "the network between them, and at their disks.",
    runbook: "troubleshooting.md#no-leader",
  },
  {
    name: "QuoinMemberDown",
    when: "up{SERIES} == 0",
    for: "2m",
    severity: "warning",
    summary: "{{ $labels.POD }} cannot be scraped",
    description: "A cluster of three tolerates the loss of one member, and no second one.",
    runbook: "troubleshooting.md#a-member-does-not-start",
  },
  {
    name: "QuoinMembersMissing",
    when: "MEMBERS - (count(up{SERIES}) or vector(0)) > 0",
    for: "5m",
    severity: "warning",
    summary: "Prometheus finds {{ $value }} of MEMBERS members nowhere",
    description: "Their pods do not exist, or Prometheus does not look for them.",
    runbook: "troubleshooting.md#a-member-does-not-start",
  },
  {
    name: "QuoinMemberNotReady",
    when: "quoin_ready_check{SERIES} == 0",
    for: "5m",
    severity: "warning",
    summary: "{{ $labels.POD }} is not ready: {{ $labels.check }}",
    description: "The member runs but refuses clients. The label names the failed check.",
    runbook: "monitoring.md#health-checks",
  },
  {
    name: "QuoinMemberUnusable",
    when: 'quoin_member_state{SERIES,state=~"MEMBER_.*|WRONG_CLUSTER"} == 1',
    for: "1m",
    severity: "critical",
    summary: "{{ $labels.POD }} is {{ $labels.state }}",
    description: "Its data is of another cluster, was lost, or belongs to a removed member: a person must decide.",
    runbook: "troubleshooting.md#a-member-does-not-start",
  },
  {
    name: "QuoinStatesDiffer",
    when: "quoin_raft_divergent_peers{SERIES} > 0",
    for: "0m",
    severity: "critical",
    summary: "{{ $value }} members have another state than {{ $labels.POD }}, which leads",
    description:
      "Equal entries have led to different states. The wrong member stops once a majority shows which one it is.",
    runbook: "troubleshooting.md#ask-for-help",
  },
  {
    name: "QuoinLeaderChanges",
    when: "max(increase(quoin_raft_leader_changes_total{SERIES}[15m])) > 3",
    for: "0m",
    severity: "warning",
    summary: "the leader has changed {{ $value | humanize }} times in 15 minutes",
    description:
      "Each election interrupts writes for about a second. Causes: a stalled disk or network, or a late event loop.",
    runbook: "troubleshooting.md#frequent-elections",
  },
  {
    name: "QuoinClocksDiffer",
    when:
      "max(quoin_clock_seconds{SERIES} - timestamp(quoin_clock_seconds{SERIES})) - " +
      "min(quoin_clock_seconds{SERIES} - timestamp(quoin_clock_seconds{SERIES})) > 5",
    for: "5m",
    severity: "warning",
    summary: "the clocks of members differ by {{ $value | humanizeDuration }}",
    description:
      "Tokens expire early or late, and from 30 s on members refuse tokens of each other. Keys and locks are safe. " +
      "Synchronize the clocks of the nodes.",
    runbook: "troubleshooting.md#clocks-that-differ",
  },
  {
    name: "QuoinMemberBehind",
    when: "max by (peer) (quoin_raft_peer_lag_seconds{SERIES}) > 5",
    for: "1m",
    severity: "warning",
    summary: "{{ $labels.peer }} is {{ $value | humanizeDuration }} behind the leader",
    description: "The loss of another member now could cost the majority, or the transfer of a snapshot.",
    runbook: "troubleshooting.md#slow-writes",
  },
  {
    name: "QuoinSlowDisk",
    when: `histogram_quantile(0.99, sum by (le, POD) (rate(${SYNCS}{SERIES}[5m]))) > 0.1`,
    for: "5m",
    severity: "warning",
    summary: "one in a hundred syncs of the log of {{ $labels.POD }} takes {{ $value | humanizeDuration }}",
    description: "Every acknowledged write waits for a sync. From half a second on, clients notice it.",
    runbook: "troubleshooting.md#slow-writes",
  },
  {
    name: "QuoinDiskFilling",
    when: "1 - quoin_storage_disk_free_bytes{SERIES} / quoin_storage_disk_size_bytes{SERIES} > 0.8",
    for: "5m",
    severity: "warning",
    summary: "{{ $value | humanizePercentage }} of the disk of {{ $labels.POD }} are used",
    description: "A member whose disk is nearly full refuses writes that grow the state.",
    runbook: "troubleshooting.md#the-disk-is-full",
  },
  {
    name: "QuoinDiskFullInADay",
    when:
      "predict_linear(quoin_storage_disk_free_bytes{SERIES}[6h], 86400) < 0 and " +
      "quoin_storage_disk_free_bytes{SERIES} < 0.5 * quoin_storage_disk_size_bytes{SERIES}",
    for: "1h",
    severity: "warning",
    summary: "the disk of {{ $labels.POD }} will be full within a day at this rate",
    description: "Find out what grows: `quoinctl usage` shows it by namespace.",
    runbook: "troubleshooting.md#the-disk-is-full",
  },
  {
    name: "QuoinDiskLow",
    when: 'quoin_storage_disk_space{SERIES,judgement="low"} == 1',
    for: "0m",
    severity: "critical",
    summary: "the disk of {{ $labels.POD }} is nearly full",
    description:
      "The member refuses writes that grow the state. If the disks of most members are nearly full, the cluster does.",
    runbook: "troubleshooting.md#the-disk-is-full",
  },
  {
    name: "QuoinDiskFull",
    when: 'quoin_storage_disk_space{SERIES,judgement="full"} == 1',
    for: "0m",
    severity: "critical",
    summary: "the disk of {{ $labels.POD }} is full",
    description: "The member takes no entries at all, and so does not count for the majority.",
    runbook: "troubleshooting.md#the-disk-is-full",
  },
  {
    name: "QuoinCertificateExpires",
    when: "quoin_certificate_expiry_seconds{SERIES} < 14 * 86400",
    for: "10m",
    severity: "warning",
    summary:
      "the certificate that {{ $labels.POD }} shows to {{ $labels.shown_to }} ends in {{ $value | humanizeDuration }}",
    description: "It has not been renewed. Members read renewed files without a restart.",
    runbook: "operations/secrets.md#certificates",
  },
  {
    name: "QuoinStoreStalls",
    when:
      "max by (POD, store) (quoin_rocksdb_write_stopped{SERIES}) > 0 or " +
      "max by (POD, store) (quoin_rocksdb_delayed_write_bytes_per_second{SERIES}) > 0",
    for: "1m",
    severity: "warning",
    summary: "the store {{ $labels.store }} of {{ $labels.POD }} delays or stops writes",
    description: "RocksDB refuses or slows writes because compaction does not keep up.",
    runbook: "troubleshooting.md#slow-writes",
  },
  {
    name: "QuoinEventLoopLate",
    when: `histogram_quantile(0.99, sum by (le, POD) (rate(${DELAYS}{SERIES}[5m]))) > 0.1`,
    for: "5m",
    severity: "warning",
    summary: "the event loop of {{ $labels.POD }} is late by {{ $value | humanizeDuration }}",
    description: "Heartbeats and requests wait for it. A delay of 100 ms makes a member unready.",
    runbook: "troubleshooting.md#frequent-elections",
  },
  {
    name: "QuoinCallsFail",
    when: `sum(rate(${CALLS}{SERIES,${FAILURES}}[5m])) / sum(rate(${CALLS}{SERIES}[5m])) > 0.01`,
    for: "5m",
    severity: "warning",
    summary: "{{ $value | humanizePercentage }} of the calls fail",
    description: "These are failures of the service. Mistakes and missing rights of clients do not count.",
    runbook: "troubleshooting.md#clients",
  },
  {
    name: "QuoinBug",
    when: [`${CALLS}{SERIES,code="INTERNAL"}`, 'quoin_http_requests_total{SERIES,status="500"}']
      .map(newFailures)
      .join(" or "),
    for: "0m",
    severity: "warning",
    summary: "requests failed because of a bug",
    description: "The log of the member has the error.",
    runbook: "troubleshooting.md#ask-for-help",
  },
  {
    name: "QuoinLocksExpire",
    when: 'max(increase(quoin_lock_releases_total{SERIES,reason="expired"}[15m])) > 10',
    for: "0m",
    severity: "info",
    summary: "{{ $value | humanize }} holds of locks have expired in 15 minutes",
    description:
      "Holders die or renew too late. Their work may continue without the lock, and then fails at what the lock guards.",
    runbook: "troubleshooting.md#clients",
  },
  {
    name: "QuoinWatchesTooSlow",
    when: 'sum(increase(quoin_watch_ended_total{SERIES,reason="COMPACTED"}[15m])) > 0',
    for: "0m",
    severity: "info",
    summary: "{{ $value | humanize }} watches were too slow for the kept history",
    description: "Such a watch loses its place, and its client must read everything again.",
    runbook: "troubleshooting.md#clients",
  },
];

/** Of a cluster that has a store for backups. */
export const BACKUP_ALERTS: readonly Alert[] = [
  {
    name: "QuoinBackupVerificationFailed",
    // A member that starts reports 0, and another one may archive by now. So earlier values count, too.
    when:
      'max(max_over_time(quoin_backup_verified_timestamp_seconds{SERIES,result="failed"}[14d])) > ' +
      'max(max_over_time(quoin_backup_verified_timestamp_seconds{SERIES,result="succeeded"}[14d]))',
    for: "0m",
    severity: "critical",
    summary: "a backup in the store cannot be used",
    description: "Take another one, and find out what has damaged it.",
    runbook: "operations/backups.md#when-damage-was-found",
  },
];

/** Of a cluster that has an archive. */
export const ARCHIVE_ALERTS: readonly Alert[] = [
  {
    name: "QuoinBackupOverdue",
    // A member that starts reports none, so its earlier value counts, too. Without any value, none is known to exist.
    when:
      "time() - max(max_over_time(quoin_backup_last_success_timestamp_seconds{SERIES}[SECONDSs])) > SECONDS or " +
      "absent_over_time(quoin_backup_last_success_timestamp_seconds{SERIES}[SECONDSs])",
    for: "15m",
    severity: "critical",
    summary: "no backup has succeeded for two intervals",
    description: "The log of the members and the condition BackupHealthy say why.",
    runbook: "operations/backups.md#what-to-watch",
  },
  {
    name: "QuoinArchiveBehind",
    when: "max(quoin_archive_lag_seconds{SERIES}) > 60",
    for: "1m",
    severity: "warning",
    summary: "writes of {{ $value | humanizeDuration }} are not archived",
    description: "They are lost if all volumes are.",
    runbook: "operations/backups.md#what-to-watch",
  },
  {
    name: "QuoinArchiveChainBroken",
    when: "max(quoin_archive_chain_broken{SERIES}) > 0",
    for: "0m",
    severity: "critical",
    summary: "writes are missing from the archive",
    description: "No snapshot has begun another chain yet, so a restore ends before the gap.",
    runbook: "operations/backups.md#what-to-watch",
  },
  {
    name: "QuoinArchiveFails",
    when: "sum(increase(quoin_archive_failures_total{SERIES}[15m])) > 3",
    for: "15m",
    severity: "warning",
    summary: "the archive cannot be written",
    description: "The condition ArchiveHealthy and the log of the members say why.",
    runbook: "operations/backups.md#what-to-watch",
  },
];
