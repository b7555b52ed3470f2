/** Objects for the Prometheus operator: what to scrape, and when to alert. */
import type { V1ObjectMeta } from "@kubernetes/client-node";
import type { CoordinationCluster } from "../generated/coordination-cluster.ts";
import { type Alert, ARCHIVE_ALERTS, alertRule, BACKUP_ALERTS, MEMBER_ALERTS } from "./alerts/index.ts";
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

function alertsOf({ spec: { backup } }: CoordinationCluster): readonly Alert[] {
  return [
    ...MEMBER_ALERTS,
    ...(backup === undefined ? [] : BACKUP_ALERTS),
    ...(backup?.archive === true ? ARCHIVE_ALERTS : []),
  ];
}

/**
 * Null if it is disabled.
 *
 * @param manualUrl where the manual is, for links in alerts; empty = no links
 */
export function renderRules(cluster: CoordinationCluster, manualUrl: string): MonitoringObject | null {
  const { monitoring, replicas, backup } = cluster.spec;
  const { enabled, labels } = monitoring.rules;
  if (!enabled) {
    return null;
  }
  const { name } = cluster.metadata;
  const namespace = namespaceOf(cluster);
  const place = {
    series: `namespace="${namespace}",quoin_dev_cluster="${name}"`,
    pod: "pod",
    members: replicas,
    seconds: backup === undefined ? 0 : (2 * durationMsOf(backup.interval)) / 1000,
    labels: { cluster: `${namespace}/${name}` },
    manualUrl,
  };
  const rules = alertsOf(cluster).map((alert) => alertRule(alert, place));
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: metadataOf(cluster, name, labels === undefined ? {} : { labels }),
    spec: { groups: [{ name: `quoin-${name}`, rules }] },
  };
}
