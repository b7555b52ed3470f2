/** What the operator tells Prometheus. Gauges are read when somebody asks. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const PREFIX = "quoin_operator_";
/** A pass asks the API server a dozen times, and members once or twice, for up to two seconds each. */
const PASS_SECONDS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

/** Read when somebody asks. */
export interface OperatorState {
  readonly queueDepth: () => number;
  readonly isLeader: () => boolean;
  /** Seconds since the API server said anything about a kind. */
  readonly watchAges: () => ReadonlyMap<string, number>;
}

/** A cluster's state after a pass. */
export interface ClusterState {
  /** As namespace/name. */
  readonly cluster: string;
  /** What the next step waits for, and for how long already; null if nothing does. */
  readonly blocked: { readonly gate: string; readonly seconds: number } | null;
  readonly quorumLost: boolean;
  /** Whether its specification is not the one that is followed. */
  readonly refused: boolean;
}

/** The series of a cluster for which every action succeeds: it has no action, so that rules and dashboards find one. */
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
  /** What each cluster waits for, as far as it is shown. */
  readonly #gates = new Map<string, string>();
  /** Kinds of actions that are shown as failing, by cluster. */
  readonly #failingActions = new Map<string, readonly string[]>();

  constructor(state: OperatorState) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#passes = new Counter({
      ...{ name: `${PREFIX}reconcile_total`, help: "Passes over clusters, by how they ended", registers },
      labelNames: ["result"],
    });
    this.#passSeconds = new Histogram({
      ...{ name: `${PREFIX}reconcile_seconds`, help: "How long passes take", registers },
      buckets: PASS_SECONDS,
    });
    this.#actions = new Counter({
      ...{ name: `${PREFIX}action_total`, help: "What was done to clusters", registers },
      labelNames: ["action"],
    });
    this.#requests = new Counter({
      ...{ name: `${PREFIX}api_requests_total`, help: "Requests to the API server; code 0 = no answer", registers },
      labelNames: ["method", "code"],
    });
    this.#blocked = new Gauge({
      ...{ name: `${PREFIX}cluster_blocked_seconds`, help: "For how long a cluster's next step has waited", registers },
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
        help: "For how long an action on a cluster has failed",
        registers,
      },
      labelNames: ["cluster", "action"],
    });
    this.#addState(state, registers);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** As text. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  countPass(result: "done" | "gone" | "failed", seconds: number): void {
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

  /** @param secondsByAction for how long each kind of action has failed; empty if none fails */
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
      ...{ name: `${PREFIX}queue_depth`, help: "Clusters that wait for a pass", registers },
      collect() {
        this.set(state.queueDepth());
      },
    });
    new Gauge({
      ...{ name: `${PREFIX}is_leader`, help: "Whether this operator is the one that works", registers },
      collect() {
        this.set(state.isLeader() ? 1 : 0);
      },
    });
    new Gauge({
      ...{ name: `${PREFIX}watch_age_seconds`, help: "How long nothing was heard of a kind", registers },
      labelNames: ["kind"],
      collect() {
        for (const [kind, seconds] of state.watchAges()) {
          this.set({ kind }, seconds);
        }
      },
    });
  }
}
