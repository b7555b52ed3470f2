/** The operator's Prometheus metrics. Gauges are read at each scrape. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const PREFIX = "quoin_operator_";
/** A pass sends a dozen requests to the API server and one or two to members, for up to two seconds each. */
const PASS_SECONDS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

/** Read at each scrape. */
export interface OperatorState {
  readonly queueDepth: () => number;
  readonly isLeader: () => boolean;
  /** By kind: seconds since the API server last sent anything. */
  readonly watchAges: () => ReadonlyMap<string, number>;
}

/** What a pass has found out about a cluster. */
export interface ClusterState {
  /** As namespace/name. */
  readonly cluster: string;
  /** The gate at which the next step waits, and for how long; null if it does not wait. */
  readonly blocked: { readonly gate: string; readonly seconds: number } | null;
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  /** Number of members in the specification. */
  readonly wanted: number;
  /** Number of healthy voters. */
  readonly healthy: number;
  /** When a backup last succeeded, in ms since 1970; null without backups, or if none has succeeded yet. */
  readonly lastBackupMs: number | null;
}

/** A gauge with several series for each cluster, which shows those that were set last. */
class ClusterGauge {
  readonly #gauge: Gauge;
  /** The labels of the series of each cluster. */
  readonly #shown = new Map<string, readonly Labels[]>();

  constructor(registers: Registry[], name: string, labelNames: readonly string[], help: string) {
    this.#gauge = new Gauge({ name, help, registers, labelNames: ["cluster", ...labelNames] });
  }

  set(cluster: string, series: readonly (readonly [labels: Labels, value: number])[]): void {
    for (const labels of this.#shown.get(cluster) ?? []) {
      this.#gauge.remove({ cluster, ...labels });
    }
    for (const [labels, value] of series) {
      this.#gauge.set({ cluster, ...labels }, value);
    }
    this.#shown.set(
      cluster,
      series.map(([labels]) => labels),
    );
  }

  forget(cluster: string): void {
    this.set(cluster, []);
    this.#shown.delete(cluster);
  }
}

/** The series of a cluster without a failing action. */
const NONE_FAILS: ReadonlyMap<string, number> = new Map([["", 0]]);

type Labels = Readonly<Record<string, string>>;

export class OperatorMetrics {
  readonly #registry = new Registry();
  readonly #passes: Counter<"result">;
  readonly #passSeconds: Histogram;
  readonly #actions: Counter<"action">;
  readonly #requests: Counter<"method" | "code">;
  readonly #blocked: ClusterGauge;
  readonly #conditions: ClusterGauge;
  readonly #members: ClusterGauge;
  readonly #failing: ClusterGauge;
  /** When a backup last succeeded, in ms since 1970, by cluster. */
  readonly #backups = new Map<string, number>();

  constructor(state: OperatorState) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#passes = new Counter({
      name: `${PREFIX}reconcile_total`,
      help: "Reconcile passes, by result",
      registers,
      labelNames: ["result"],
    });
    this.#passSeconds = new Histogram({
      name: `${PREFIX}reconcile_seconds`,
      help: "Duration of reconcile passes",
      registers,
      buckets: PASS_SECONDS,
    });
    this.#actions = new Counter({
      name: `${PREFIX}action_total`,
      help: "Actions on clusters",
      registers,
      labelNames: ["action"],
    });
    this.#requests = new Counter({
      name: `${PREFIX}api_requests_total`,
      help: "Requests to the API server; code 0 means no answer",
      registers,
      labelNames: ["method", "code"],
    });
    const ofClusters = (name: string, labels: readonly string[], help: string) =>
      new ClusterGauge(registers, name, labels, help);
    this.#blocked = ofClusters(
      `${PREFIX}cluster_blocked_seconds`,
      ["gate"],
      "How long the next step of a cluster has waited",
    );
    this.#conditions = ofClusters(
      `${PREFIX}cluster_condition`,
      ["type", "status"],
      "1 for the current status of each condition of a cluster",
    );
    this.#members = ofClusters(
      `${PREFIX}cluster_members`,
      ["state"],
      "Members that a cluster should have, and its healthy voters",
    );
    this.#failing = ofClusters(
      `${PREFIX}cluster_failing_seconds`,
      ["action"],
      "How long an action on a cluster has failed",
    );
    this.#addState(state, registers);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** In the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  countReconcile(result: "done" | "gone" | "failed", seconds: number): void {
    this.#passes.inc({ result });
    this.#passSeconds.observe(seconds);
  }

  countAction(action: string): void {
    this.#actions.inc({ action });
  }

  countRequest(method: string, code: number): void {
    this.#requests.inc({ method, code: String(code) });
  }

  setCluster({ cluster, blocked, conditions, wanted, healthy, lastBackupMs }: ClusterState): void {
    this.#blocked.set(cluster, blocked === null ? [] : [[{ gate: blocked.gate }, blocked.seconds]]);
    this.#conditions.set(
      cluster,
      conditions.map(({ type, status }) => [{ type, status }, 1]),
    );
    this.#members.set(cluster, [
      [{ state: "wanted" }, wanted],
      [{ state: "healthy" }, healthy],
    ]);
    if (lastBackupMs === null) {
      this.#backups.delete(cluster);
    } else {
      this.#backups.set(cluster, lastBackupMs);
    }
  }

  /** @param secondsByAction how long each kind of action has failed; empty if none fails */
  setFailing(cluster: string, secondsByAction: ReadonlyMap<string, number>): void {
    // Rules and dashboards always find a series.
    const shown = secondsByAction.size === 0 ? NONE_FAILS : secondsByAction;
    this.#failing.set(
      cluster,
      [...shown].map(([action, seconds]) => [{ action }, seconds]),
    );
  }

  forgetCluster(cluster: string): void {
    for (const gauge of [this.#blocked, this.#conditions, this.#members, this.#failing]) {
      gauge.forget(cluster);
    }
    this.#backups.delete(cluster);
  }

  #addState(state: OperatorState, registers: Registry[]): void {
    const backups = this.#backups;
    new Gauge({
      name: `${PREFIX}cluster_backup_age_seconds`,
      help: "Time since a backup of a cluster last succeeded",
      registers,
      labelNames: ["cluster"],
      collect() {
        this.reset();
        for (const [cluster, succeededMs] of backups) {
          this.set({ cluster }, (Date.now() - succeededMs) / 1000);
        }
      },
    });
    new Gauge({
      name: `${PREFIX}queue_depth`,
      help: "Clusters in the queue for a reconcile pass",
      registers,
      collect() {
        this.set(state.queueDepth());
      },
    });
    new Gauge({
      name: `${PREFIX}is_leader`,
      help: "Whether this operator holds the Lease",
      registers,
      collect() {
        this.set(state.isLeader() ? 1 : 0);
      },
    });
    new Gauge({
      name: `${PREFIX}watch_age_seconds`,
      help: "Time since the API server last sent anything about a kind",
      registers,
      labelNames: ["kind"],
      collect() {
        for (const [kind, seconds] of state.watchAges()) {
          this.set({ kind }, seconds);
        }
      },
    });
  }
}
