/**
 * Prometheus in a pod, configured as the Prometheus operator would do it, from the PodMonitors and PrometheusRules that
 * exist at its start. The pods of that moment are listed for it, with the labels that it would add itself, because not
 * every build of Prometheus supports Kubernetes.
 */

import { until } from "../cluster/index.ts";
import type { KubeObject } from "./kubernetes-api.ts";
import { isPodReady, LIMIT_MS, type QuoinCluster } from "./quoin-cluster.ts";

const NAME = "prometheus";
const PORT = 9090;
const NOBODY_USER_ID = 65_534;
/** Prometheus' own interval is minutes; rules must work within a test. */
const EVALUATION_INTERVAL = "2s";
const CONFIGURED_AT = "/etc/prometheus";
const MONITORING = "/apis/monitoring.coreos.com/v1";
/** Prefix of the labels by which Prometheus gets its targets' settings. */
const META = "__meta_kubernetes_";

/** Prometheus' answer to a query: a value for each set of labels. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export class PrometheusPod {
  readonly #cluster: QuoinCluster;

  private constructor(cluster: QuoinCluster) {
    this.#cluster = cluster;
  }

  /** Starts it in the namespace of the cluster, for the targets in some namespaces. */
  static async start(cluster: QuoinCluster, namespaces: readonly string[]): Promise<PrometheusPod> {
    const { kubernetes, namespace } = cluster;
    const image = await kubernetes.cluster.providePrometheus();
    const itemsOf = async (group: string, plural: string): Promise<KubeObject[]> => {
      const lists = namespaces.map((each) => kubernetes.get(`${group}/namespaces/${each}/${plural}`));
      return (await Promise.all(lists)).flatMap(({ items }) => items);
    };
    const monitors = await itemsOf(MONITORING, "podmonitors");
    const rules = await itemsOf(MONITORING, "prometheusrules");
    const targets = (await itemsOf("/api/v1", "pods")).flatMap(targetsOf);
    await kubernetes.apply(namespace, configuration(monitors, rules, targets), pod(image));
    const path = `/api/v1/namespaces/${namespace}/pods/${NAME}`;
    await until("Prometheus to be ready", async () => isPodReady(await kubernetes.get(path)), LIMIT_MS);
    return new PrometheusPod(cluster);
  }

  /** `data` of an answer of Prometheus' own API, such as that of `targets`. Rejects with its error message. */
  async ask(path: string): Promise<KubeObject> {
    const { kubernetes, namespace } = this.#cluster;
    const { data } = await kubernetes.get(`/api/v1/namespaces/${namespace}/pods/${NAME}:${PORT}/proxy/api/v1/${path}`);
    return data;
  }

  /** The present value of an expression. */
  async query(expression: string): Promise<readonly Sample[]> {
    return (await this.ask(`query?query=${encodeURIComponent(expression)}`)).result;
  }
}

/** A port of a pod, with the pod. */
interface Target {
  readonly targets: readonly [string];
  readonly labels: Readonly<Record<string, string>>;
}

function targetsOf({ metadata, spec, status }: KubeObject): Target[] {
  const labels = Object.entries<string>(metadata.labels ?? {}).flatMap(([name, value]) => [
    [`${META}pod_label_${asLabel(name)}`, value],
  ]);
  return (status.podIP === undefined ? [] : spec.containers).flatMap(({ name, ports = [] }: KubeObject) =>
    ports.map(({ name: port, containerPort }: KubeObject) => ({
      targets: [`${status.podIP}:${containerPort}`],
      labels: {
        ...Object.fromEntries(labels),
        [`${META}namespace`]: metadata.namespace,
        [`${META}pod_name`]: metadata.name,
        [`${META}pod_container_name`]: name,
        [`${META}pod_container_port_name`]: port ?? "",
      },
    })),
  );
}

/** Its files. Every JSON text is also YAML. */
function configuration(
  monitors: readonly KubeObject[],
  rules: readonly KubeObject[],
  targets: readonly Target[],
): object {
  const ruleFiles = rules.map(
    ({ metadata, spec }) => [`${metadata.namespace}.${metadata.name}.rules.yaml`, JSON.stringify(spec)] as const,
  );
  const config = {
    global: { evaluation_interval: EVALUATION_INTERVAL },
    rule_files: [`${CONFIGURED_AT}/*.rules.yaml`],
    scrape_configs: monitors.flatMap((monitor) => jobsOf(monitor, targets)),
  };
  const data = { "prometheus.yml": JSON.stringify(config), ...Object.fromEntries(ruleFiles) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: NAME }, data };
}

/** One job for each endpoint of a PodMonitor. */
function jobsOf({ metadata, spec }: KubeObject, targets: readonly Target[]): object[] {
  const { namespace, name } = metadata;
  const { selector, podTargetLabels = [], podMetricsEndpoints } = spec;
  const keep = (label: string, regex: string): object => ({
    source_labels: [`${META}${label}`],
    regex,
    action: "keep",
  });
  const take = (label: string, target: string): object => ({
    source_labels: [`${META}${label}`],
    target_label: target,
  });
  return podMetricsEndpoints.map(({ port, path, interval }: KubeObject, at: number) => ({
    job_name: `podMonitor/${namespace}/${name}/${at}`,
    metrics_path: path,
    ...(interval === undefined ? {} : { scrape_interval: interval, scrape_timeout: interval }),
    static_configs: targets,
    relabel_configs: [
      keep("namespace", namespace),
      ...Object.entries<string>(selector.matchLabels).map(([label, value]) =>
        keep(`pod_label_${asLabel(label)}`, value),
      ),
      keep("pod_container_port_name", port),
      take("namespace", "namespace"),
      take("pod_container_name", "container"),
      take("pod_name", "pod"),
      ...podTargetLabels.map((label: string) => take(`pod_label_${asLabel(label)}`, asLabel(label))),
    ],
  }));
}

function asLabel(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}

function pod(image: string): object {
  const container = {
    name: NAME,
    image,
    args: [`--config.file=${CONFIGURED_AT}/prometheus.yml`, "--storage.tsdb.path=/prometheus"],
    readinessProbe: { httpGet: { path: "/-/ready", port: PORT }, periodSeconds: 1 },
    volumeMounts: [
      { name: "configuration", mountPath: CONFIGURED_AT },
      { name: "data", mountPath: "/prometheus" },
    ],
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: NAME },
    spec: {
      securityContext: { runAsUser: NOBODY_USER_ID, runAsNonRoot: true, fsGroup: NOBODY_USER_ID },
      containers: [container],
      volumes: [
        { name: "configuration", configMap: { name: NAME } },
        { name: "data", emptyDir: {} },
      ],
      terminationGracePeriodSeconds: 1,
    },
  };
}
