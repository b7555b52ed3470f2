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

/** A cluster's state after a pass. */
export interface ClusterState {
  /** As namespace/name. */
  readonly cluster: string;
  /** The gate at which the next step waits, and for how long; null if it does not wait. */
  readonly blocked: { readonly gate: string; readonly seconds: number } | null;
  readonly quorumLost: boolean;
  /** Whether its present specification is refused. */
  readonly refused: boolean;
}

/**
 * The series of a cluster without a failing action. Its action is empty, so that rules and dashboards always find a
 * series.
 */
const NONE_FAILS: ReadonlyMap<string, number> = new Map([["", 0]]);

export class OperatorMetrics {
  readonly #registry = new Registry();
  readonly #passes: Counter<"result">;
  readonly #passSeconds: Histogram;
  readonly #actions: Counter<"action">;
  readonly #requests: Counter<"method" | "code">;
  readonly #blocked: Gauge<"cluster" | "gate">;
  readonly #quorumLost: Gauge<"cluster">;
  readonly #refused: Gauge<"cluster">;
  readonly #failing: Gauge<"cluster" | "action">;
  /** The gate shown for each waiting cluster. */
  readonly #gates = new Map<string, string>();
  /** Kinds of actions that are shown as failing, by cluster. */
  readonly #failingActions = new Map<string, readonly string[]>();

  constructor(state: OperatorState) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#passes = new Counter({
      ...{ name: `${PREFIX}reconcile_total`, help: "Reconcile passes, by result", registers },
      labelNames: ["result"],
    });
    this.#passSeconds = new Histogram({
      ...{ name: `${PREFIX}reconcile_seconds`, help: "Duration of reconcile passes", registers },
      buckets: PASS_SECONDS,
    });
    this.#actions = new Counter({
      ...{ name: `${PREFIX}action_total`, help: "Actions on clusters", registers },
      labelNames: ["action"],
    });
    this.#requests = new Counter({
      ...{ name: `${PREFIX}api_requests_total`, help: "Requests to the API server; code 0 means no answer", registers },
      labelNames: ["method", "code"],
    });
    this.#blocked = new Gauge({
      ...{
        name: `${PREFIX}cluster_blocked_seconds`,
        help: "How long the next step of a cluster has waited",
        registers,
      },
      labelNames: ["cluster", "gate"],
    });
    this.#quorumLost = new Gauge({
      ...{ name: `${PREFIX}cluster_quorum_lost`, help: "Whether a cluster has lost its quorum", registers },
      labelNames: ["cluster"],
    });
    this.#refused = new Gauge({
      ...{ name: `${PREFIX}cluster_refused`, help: "Whether a cluster's specification is refused", registers },
      labelNames: ["cluster"],
    });
    this.#failing = new Gauge({
      ...{
        name: `${PREFIX}cluster_failing_seconds`,
        help: "How long an action on a cluster has failed",
        registers,
      },
      labelNames: ["cluster", "action"],
    });
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

  setCluster({ cluster, blocked, quorumLost, refused }: ClusterState): void {
    this.#clearGate(cluster);
    if (blocked !== null) {
      this.#gates.set(cluster, blocked.gate);
      this.#blocked.set({ cluster, gate: blocked.gate }, blocked.seconds);
    }
    this.#quorumLost.set({ cluster }, quorumLost ? 1 : 0);
    this.#refused.set({ cluster }, refused ? 1 : 0);
  }

  /** @param secondsByAction how long each kind of action has failed; empty if none fails */
  setFailing(cluster: string, secondsByAction: ReadonlyMap<string, number>): void {
    this.#clearFailing(cluster);
    const shown = secondsByAction.size === 0 ? NONE_FAILS : secondsByAction;
    this.#failingActions.set(cluster, [...shown.keys()]);
    for (const [action, seconds] of shown) {
      this.#failing.set({ cluster, action }, seconds);
    }
  }

  forgetCluster(cluster: string): void {
    this.#clearGate(cluster);
    this.#clearFailing(cluster);
    this.#quorumLost.remove({ cluster });
    this.#refused.remove({ cluster });
  }

  #clearFailing(cluster: string): void {
    for (const action of this.#failingActions.get(cluster) ?? []) {
      this.#failing.remove({ cluster, action });
    }
    this.#failingActions.delete(cluster);
  }

  #clearGate(cluster: string): void {
    const gate = this.#gates.get(cluster);
    if (gate !== undefined) {
      this.#blocked.remove({ cluster, gate });
      this.#gates.delete(cluster);
    }
  }

  #addState(state: OperatorState, registers: Registry[]): void {
    new Gauge({
      ...{ name: `${PREFIX}queue_depth`, help: "Clusters in the queue for a reconcile pass", registers },
      collect() {
        this.set(state.queueDepth());
      },
    });
    new Gauge({
      ...{ name: `${PREFIX}is_leader`, help: "Whether this operator holds the Lease", registers },
      collect() {
        this.set(state.isLeader() ? 1 : 0);
      },
    });
    new Gauge({
      ...{
        name: `${PREFIX}watch_age_seconds`,
        help: "Time since the API server last sent anything about a kind",
        registers,
      },
      labelNames: ["kind"],
      collect() {
        for (const [kind, seconds] of state.watchAges()) {
          this.set({ kind }, seconds);
        }
      },
    });
  }
}
