/**
 * All metrics of a member, by topic: /metrics serves them, and docs/metrics.md describes them.
 *
 * To add a metric, add it to the list of its folder. To add a list, add it here, with its source.
 */

import { BACKUP_METRICS } from "../../archive/index.ts";
import { RAFT_METRICS, STATE_METRICS, STORAGE_METRICS } from "../../replica/index.ts";
import {
  CERTIFICATE_METRICS,
  HEALTH_METRICS,
  type Metric,
  type MetricDescription,
  Metrics,
  PROCESS_METRICS,
} from "../../telemetry/index.ts";
import { TRACE_METRICS } from "../../tracing/index.ts";
import { WATCH_METRICS } from "../../watch/index.ts";
import { CALL_ADMISSION_METRICS, CALL_METRICS } from "../calls/index.ts";
import { CONNECTION_METRICS } from "../connections/index.ts";
import { REQUEST_METRICS } from "../http/index.ts";
import { HTTP2_METRICS } from "../quoin-host/index.ts";

/** The source that the metrics of a list read. */
type SourceOf<List> = List extends readonly Metric<infer Source>[] ? Source : never;

const LISTS = {
  process: PROCESS_METRICS,
  health: HEALTH_METRICS,
  certificates: CERTIFICATE_METRICS,
  raft: RAFT_METRICS,
  storage: STORAGE_METRICS,
  state: STATE_METRICS,
  backups: BACKUP_METRICS,
  watch: WATCH_METRICS,
  grpc: CALL_METRICS,
  http: REQUEST_METRICS,
  http2: HTTP2_METRICS,
  connections: CONNECTION_METRICS,
  callAdmissions: CALL_ADMISSION_METRICS,
  traces: TRACE_METRICS,
} as const;

export type MetricSources = { readonly [Name in keyof typeof LISTS]: SourceOf<(typeof LISTS)[Name]> };

/** The lists by name, without their sources. */
export const METRIC_LISTS: ReadonlyMap<string, readonly MetricDescription[]> = new Map(Object.entries(LISTS));

/** Returns all metrics of a member. They are read from these sources at each request. */
export function memberMetrics(sources: MetricSources, monotonicMs: () => number): Metrics {
  const metrics = new Metrics(monotonicMs);
  metrics.addProcess();
  metrics.add(LISTS.process, sources.process);
  metrics.add(LISTS.health, sources.health);
  metrics.add(LISTS.certificates, sources.certificates);
  metrics.add(LISTS.raft, sources.raft);
  metrics.add(LISTS.storage, sources.storage);
  metrics.add(LISTS.state, sources.state);
  metrics.add(LISTS.backups, sources.backups);
  metrics.add(LISTS.watch, sources.watch);
  metrics.add(LISTS.grpc, sources.grpc);
  metrics.add(LISTS.http, sources.http);
  metrics.add(LISTS.http2, sources.http2);
  metrics.add(LISTS.connections, sources.connections);
  metrics.add(LISTS.callAdmissions, sources.callAdmissions);
  metrics.add(LISTS.traces, sources.traces);
  return metrics;
}
