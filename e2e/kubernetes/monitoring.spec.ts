/**
 * A real Prometheus scrapes members and operators. All series in the rules and dashboards exist, and an
 * alert fires when a quorum is lost. The same members send traces to a collector.
 */

import { join } from "node:path";
import { expect } from "chai";
import { until } from "../cluster/index.ts";
import { describeWithAll } from "./extent.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { PrometheusPod } from "./prometheus-pod.ts";
import { conditionOf, LIMIT_MS } from "./quoin-cluster.ts";
import { STORE, startS3 } from "./s3-pod.ts";
import { CHARTS, OPERATOR_NAMESPACE, report, Scene, seconds } from "./scene.ts";
import { TRACES_ENDPOINT, TracePod } from "./trace-pod.ts";

const MEMBERS = 3;
const OPERATORS = 2;
const SCRAPE_INTERVAL = "2s";
/** Value of a dashboard's variable: several scrapes. */
const RATE_INTERVAL = "10s";
const QUORUM_LOST_MS_MAX = 30_000;
const HELM_SECONDS = 100;
/** Of the load's requests. */
const TRACED_RATIO = 0.01;
/** Names in expressions that are metrics rather than functions or labels. */
const METRIC = /\b(?:quoin|process|nodejs|kube)_[a-z0-9_]+(?=[{[\s),]|$)/g;
const LABELS = /\{[^}]*\}|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g;
/** From kube-state-metrics, which is not part of Quoin; without it, the rule never fires. */
const OF_OTHERS: ReadonlySet<string> = new Set(["kube_pod_info"]);
/** Exists only while something waits: after the loss of the quorum. */
const BLOCKED = "quoin_operator_cluster_blocked_seconds";

const MONITORING = "monitoring.coreos.com";
const KINDS = [
  { kind: "PodMonitor", singular: "podmonitor", plural: "podmonitors" },
  { kind: "PrometheusRule", singular: "prometheusrule", plural: "prometheusrules" },
] as const;

describeWithAll("Members and operators that are scraped by Prometheus", function () {
  this.timeout(LIMIT_MS * 2);
  let scene: Scene;
  let prometheus: PrometheusPod;
  let traces: TracePod;
  /** Definitions of the Prometheus operator that did not exist before. */
  const made: string[] = [];

  before(async () => {
    scene = await Scene.set("quoin-e2e-monitoring");
    const { cluster, kubernetes } = scene;
    await defineKinds();
    // Panels and rules about backups need a cluster with an archive.
    await startS3(cluster);
    traces = await TracePod.start(cluster);
    const wanted = (...values: readonly string[]): string[] => values.flatMap((value) => ["--set", value]);
    await scene.installOperator(
      ...wanted("metrics.podMonitor.enabled=true", `metrics.podMonitor.interval=${SCRAPE_INTERVAL}`),
      ...wanted("metrics.rules.enabled=true", "metrics.dashboard.enabled=true"),
    );
    await kubernetes.cluster.helm([
      ...["install", cluster.name, join(CHARTS, "quoin-cluster"), "--namespace", cluster.namespace],
      ...["--timeout", `${HELM_SECONDS}s`],
      ...wanted("cluster.monitoring.podMonitor.enabled=true", "cluster.monitoring.rules.enabled=true"),
      ...wanted(`cluster.monitoring.podMonitor.interval=${SCRAPE_INTERVAL}`),
      ...wanted("dashboard.enabled=true", `cluster.backup.storeName=${STORE}`),
      // With --set, Helm takes a fraction for text.
      ...["--set-json", `cluster.tracing=${JSON.stringify({ endpoint: TRACES_ENDPOINT, ratio: TRACED_RATIO })}`],
    ]);
    const { object } = await cluster.untilReady();
    expect(conditionOf(object, "MonitoringReady")?.status).to.equal("True");
    prometheus = await PrometheusPod.start(cluster, [cluster.namespace, OPERATOR_NAMESPACE]);
    await scene.startLoad();
  });

  after(async () => {
    try {
      // Helm cannot remove objects without a definition.
      await scene?.removeOperator();
      for (const name of made) {
        await scene.kubernetes.send("DELETE", `${definitions()}/${name}`);
      }
    } finally {
      await scene?.clear();
    }
  });

  it("are all found and answer", async () => {
    const targets = await until(
      "all targets to be up",
      async () => {
        const { activeTargets }: KubeObject = await prometheus.ask("targets?state=active");
        const isUp = activeTargets.length > 0 && activeTargets.every(({ health }: KubeObject) => health === "up");
        // Pods of an earlier operator are targets until they have ended.
        return isUp && activeTargets.length === MEMBERS + OPERATORS ? activeTargets : null;
      },
      LIMIT_MS,
    );
    const pods = targets.map(({ labels }: KubeObject) => `${labels.namespace}/${labels.pod}`).sort();
    const { cluster } = scene;
    const members = (await cluster.pods()).map(({ metadata }) => `${cluster.namespace}/${metadata.name}`);
    expect(pods.filter((pod: string) => pod.startsWith(`${cluster.namespace}/`))).to.deep.equal(members);
    expect(pods).to.have.lengthOf(MEMBERS + OPERATORS);
  });

  it("have rules that Prometheus loads and evaluates, and none fires", async () => {
    const wanted = (await alertRules()).map(({ alert }) => alert).sort();
    const rules: KubeObject[] = await until(
      "each rule to be judged",
      async () => {
        const { groups }: KubeObject = await prometheus.ask("rules");
        const rules = groups.flatMap(({ rules }: KubeObject) => rules);
        return rules.every(({ health }: KubeObject) => health !== "unknown") ? rules : null;
      },
      LIMIT_MS,
    );
    report(`${rules.length} rules`);
    expect(rules.map(({ name }) => name).sort()).to.deep.equal(wanted);
    expect(rules.filter(({ health }) => health !== "ok")).to.deep.equal([]);
    expect(rules.filter(({ state }) => state === "firing").map(({ name }) => name)).to.deep.equal([]);
  });

  it("fill the panels of both dashboards", async () => {
    const expressions = await panels();
    for (const expression of expressions.filter((each) => !each.includes(BLOCKED))) {
      await until(`values of ${expression}`, async () => (await prometheus.query(expression)).length > 0, LIMIT_MS);
    }
    report(`${expressions.length} expressions of panels`);
  });

  it("send the spans of a write from all members to one trace", async () => {
    const { cluster } = scene;
    const members = (await cluster.pods()).map(({ metadata }) => metadata.name);
    const trace = await until(
      "a trace with spans of all members",
      async () => {
        const byTrace = Map.groupBy(await traces.spans(), ({ traceId }) => traceId);
        return [...byTrace.values()].find((spans) => new Set(spans.map(({ member }) => member)).size === MEMBERS);
      },
      LIMIT_MS,
    );
    expect([...new Set(trace.map(({ member }) => member))].sort()).to.deep.equal(members);
    const names = trace.map(({ name }) => name);
    expect(names).to.include.members(["quoin.propose", "quoin.replicate", "quoin.follow", "quoin.log.write"]);
    report(`a trace of ${trace.length} spans`);
  });

  it("report within seconds that a quorum is lost", async () => {
    const { cluster, kubernetes } = scene;
    const core = `/api/v1/namespaces/${cluster.namespace}`;
    const startedMs = performance.now();
    for (const at of [1, 2]) {
      await kubernetes.send("DELETE", `${core}/persistentvolumeclaims/data-${cluster.name}-${at}`);
    }
    for (const at of [1, 2]) {
      await kubernetes.send("DELETE", `${core}/pods/${cluster.name}-${at}`);
    }
    const alert = await until(
      "the alert",
      async () => {
        const { alerts }: KubeObject = await prometheus.ask("alerts");
        return alerts.find(
          ({ labels, state }: KubeObject) => labels.alertname === "QuoinQuorumLost" && state === "firing",
        );
      },
      LIMIT_MS,
    );
    const tookMs = performance.now() - startedMs;
    report(`QuoinQuorumLost fires after ${seconds(tookMs)}: ${alert.annotations.summary}`);
    expect(alert.labels.cluster).to.equal(`${cluster.namespace}/${cluster.name}`);
    expect(conditionOf(await cluster.get(), "QuorumLost").status).to.equal("True");
    expect(tookMs).to.be.below(QUORUM_LOST_MS_MAX);
  });

  it("have every series that rules and dashboards name", async () => {
    const expressions = [...(await alertRules()).map(({ expr }) => expr as string), ...(await panels())];
    const named = new Set(expressions.flatMap((each) => each.replaceAll(LABELS, " ").match(METRIC) ?? []));
    expect([...named]).to.include(BLOCKED);
    const unseen = async (): Promise<string[]> => {
      const seen = new Set<string>(await prometheus.ask("label/__name__/values"));
      return [...named].filter((name) => !seen.has(name) && !OF_OTHERS.has(name));
    };
    // What has waited since the loss of the quorum appears with the next scrape.
    await until("a cluster that is blocked", async () => (await prometheus.query(BLOCKED)).length > 0, LIMIT_MS);
    report(`${named.size} series named`);
    expect(await unseen()).to.deep.equal([]);
  });

  const definitions = () => "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  /** Installs minimal definitions of the Prometheus operator's kinds, if there are none yet. */
  async function defineKinds(): Promise<void> {
    const { kubernetes } = scene;
    for (const { kind, singular, plural } of KINDS) {
      const name = `${plural}.${MONITORING}`;
      if ((await kubernetes.get(`${definitions()}/${name}`)) !== null) {
        continue;
      }
      const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const spec = {
        group: MONITORING,
        scope: "Namespaced",
        names: { kind, singular, plural },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
      };
      const definition = {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name },
        spec,
      };
      await kubernetes.send("POST", definitions(), definition);
      made.push(name);
      const isServed = async (): Promise<boolean> => {
        const found = await kubernetes.get(`/apis/${MONITORING}/v1`);
        return found?.resources.some((resource: KubeObject) => resource.name === plural) === true;
      };
      await until(`${plural} to be served`, isServed, LIMIT_MS);
    }
  }

  /** All objects of that kind that the charts and the operator have created. */
  async function alertRules(): Promise<KubeObject[]> {
    const lists = [scene.cluster.namespace, OPERATOR_NAMESPACE].map((namespace) =>
      scene.kubernetes.get(`/apis/${MONITORING}/v1/namespaces/${namespace}/prometheusrules`),
    );
    const objects: KubeObject[] = (await Promise.all(lists)).flatMap(({ items }) => items);
    expect(
      objects.map(({ metadata }) => metadata.name),
      "rules of the operator and of its chart",
    ).to.have.lengthOf(2);
    return objects.flatMap(({ spec }) => spec.groups).flatMap(({ rules }) => rules);
  }

  /** The queries of the dashboards, as Grafana sends them. */
  async function panels(): Promise<string[]> {
    const { kubernetes, cluster } = scene;
    const lists = [cluster.namespace, OPERATOR_NAMESPACE].map((namespace) =>
      kubernetes.get(`/api/v1/namespaces/${namespace}/configmaps?labelSelector=grafana_dashboard=1`),
    );
    const maps: KubeObject[] = (await Promise.all(lists)).flatMap(({ items }) => items);
    expect(maps).to.have.lengthOf(2);
    const dashboards: KubeObject[] = maps
      .flatMap(({ data }) => Object.values<string>(data))
      .map((text) => JSON.parse(text));
    return dashboards
      .flatMap(({ panels }) => panels.flatMap(expressionsOf))
      .map((expression: string) =>
        expression
          .replaceAll("$namespace", cluster.namespace)
          .replaceAll("$cluster", cluster.name)
          .replaceAll("$__rate_interval", RATE_INTERVAL),
      );
  }
});

function expressionsOf({ targets = [], panels = [] }: KubeObject): string[] {
  return [...targets.map(({ expr }: KubeObject) => expr), ...panels.flatMap(expressionsOf)];
}
