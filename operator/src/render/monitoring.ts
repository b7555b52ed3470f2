/** Objects for the Prometheus operator: what to scrape, and when to alert. */
import type { V1ObjectMeta } from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import { durationMsOf } from "./backup.ts";
import { metadataOf, namespaceOf, selectorOf } from "./names.ts";

export interface MonitoringObject {
  readonly apiVersion: "monitoring.coreos.com/v1";
  readonly kind: "PodMonitor" | "PrometheusRule";
  readonly metadata: V1ObjectMeta;
  readonly spec: object;
}

/** Null if it is disabled. */
export function renderPodMonitor(cluster: CoordinationCluster): MonitoringObject | null {
  const { enabled, interval, labels } = cluster.spec.monitoring.podMonitor;
  if (!enabled) {
    return null;
  }
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PodMonitor",
    metadata: metadataOf(cluster, cluster.metadata.name, labels === undefined ? {} : { labels }),
    spec: {
      selector: { matchLabels: selectorOf(cluster) },
      podTargetLabels: Object.keys(selectorOf(cluster)),
      podMetricsEndpoints: [{ port: "health", path: "/metrics", ...(interval === undefined ? {} : { interval }) }],
    },
  };
}

interface Alert {
  readonly name: string;
  /** PromQL over the members' series; `SERIES` stands for the selector of this cluster. */
  readonly when: string;
  readonly for: string;
  readonly severity: "critical" | "warning";
  readonly summary: string;
}

const ALERTS: readonly Alert[] = [
  {
    name: "QuoinNoLeader",
    when: "max(quoin_raft_leader_known{SERIES}) < 1",
    for: "1m",
    severity: "critical",
    summary: "No member knows a leader: nothing can be written",
  },
  {
    name: "QuoinMemberDown",
    when: "min without (check) (quoin_ready_check{SERIES}) < 1",
    for: "5m",
    severity: "warning",
    summary: "A member has not been ready for five minutes",
  },
  {
    name: "QuoinLeaderChanges",
    when: "max(increase(quoin_raft_leader_changes_total{SERIES}[15m])) > 3",
    for: "0m",
    severity: "warning",
    summary: "The leader changes often: look at disks, network and processor time",
  },
  {
    name: "QuoinSlowDisk",
    when: "histogram_quantile(0.99, sum by (le, pod) (rate(quoin_storage_log_write_duration_seconds_bucket{SERIES}[5m]))) > 0.1",
    for: "5m",
    severity: "warning",
    summary: "One in a hundred syncs of the log takes more than 100 ms",
  },
  {
    name: "QuoinStoreFull",
    when: "1 - quoin_storage_disk_free_bytes{SERIES} / quoin_storage_disk_size_bytes{SERIES} > 0.8",
    for: "5m",
    severity: "warning",
    summary: "A disk is more than 80 % full",
  },
  {
    name: "QuoinCertificateExpires",
    when: "quoin_certificate_expiry_seconds{SERIES} < 14 * 86400",
    for: "10m",
    severity: "warning",
    summary: "A certificate ends within two weeks, and has not been renewed",
  },
  {
    name: "QuoinMemberBehind",
    when: "max by (peer) (quoin_raft_peer_lag_seconds{SERIES}) > 5",
    for: "1m",
    severity: "warning",
    summary: "A member is more than five seconds behind the leader",
  },
];

/** Alerts about the backups of a cluster that has a store. */
const BACKUP_ALERTS: readonly Alert[] = [
  {
    name: "QuoinBackupVerificationFailed",
    // A member that starts reports 0, and another one may archive by now. So earlier values count, too.
    when:
      'max(max_over_time(quoin_backup_verified_timestamp_seconds{SERIES,result="failed"}[14d])) > ' +
      'max(max_over_time(quoin_backup_verified_timestamp_seconds{SERIES,result="succeeded"}[14d]))',
    for: "0m",
    severity: "critical",
    summary: "A backup in the store cannot be used: take another one, and see what has damaged it",
  },
];

/** Alerts about the archive of a cluster. `SECONDS` stands for two of its intervals. */
const ARCHIVE_ALERTS: readonly Alert[] = [
  {
    name: "QuoinBackupOverdue",
    // A member that starts reports 0, so its earlier value counts, too.
    when: "time() - max(max_over_time(quoin_backup_last_success_timestamp_seconds{SERIES}[SECONDSs])) > SECONDS",
    for: "15m",
    severity: "critical",
    summary: "No backup has succeeded for two periods",
  },
  {
    name: "QuoinArchiveBehind",
    when: "max(quoin_archive_lag_seconds{SERIES}) > 60",
    for: "1m",
    severity: "warning",
    summary: "Writes of more than a minute are not archived: they are lost if all volumes are",
  },
  {
    name: "QuoinArchiveChainBroken",
    when: "max(quoin_archive_chain_broken{SERIES}) > 0",
    for: "0m",
    severity: "critical",
    summary: "Writes are missing from the archive, and no snapshot has begun another chain yet",
  },
  {
    name: "QuoinArchiveFails",
    when: "sum(increase(quoin_archive_failures_total{SERIES}[15m])) > 3",
    for: "15m",
    severity: "warning",
    summary: "The archive cannot be written: see status.conditions of the CoordinationCluster",
  },
];

function alertsOf({ spec: { backup } }: CoordinationCluster): readonly Alert[] {
  if (backup === undefined) {
    return ALERTS;
  }
  if (backup.archive !== true) {
    return [...ALERTS, ...BACKUP_ALERTS];
  }
  const seconds = String((2 * durationMsOf(backup.interval)) / 1000);
  const ofArchive = ARCHIVE_ALERTS.map((alert) => ({ ...alert, when: alert.when.replaceAll("SECONDS", seconds) }));
  return [...ALERTS, ...BACKUP_ALERTS, ...ofArchive];
}

/** Null if it is disabled. */
export function renderRules(cluster: CoordinationCluster): MonitoringObject | null {
  const { enabled, labels } = cluster.spec.monitoring.rules;
  if (!enabled) {
    return null;
  }
  const { name } = cluster.metadata;
  const series = `namespace="${namespaceOf(cluster)}",quoin_dev_cluster="${name}"`;
  const rules = alertsOf(cluster).map((alert) => ({
    alert: alert.name,
    expr: alert.when.replaceAll("SERIES", series),
    for: alert.for,
    labels: { severity: alert.severity, cluster: name },
    annotations: { summary: alert.summary },
  }));
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: metadataOf(cluster, name, labels === undefined ? {} : { labels }),
    spec: { groups: [{ name: `quoin-${name}`, rules }] },
  };
}
