/**
 * Golden files: all objects of some clusters as they were when a member version was released. A change of a pod
 * template restarts every existing member. So a difference is a mistake, unless a newer `spec.version` requires it.
 * `UPDATE_GOLDEN=1` writes missing files, and never changes an existing one.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { clusterOf } from "../../test/index.ts";
import type { ClusterSpec, CoordinationCluster } from "../generated/coordination-cluster.ts";
import {
  dnsNamesOf,
  type Manifest,
  NO_STORES,
  OverlayError,
  type Placement,
  render,
  renderPodTemplate,
  templateHashOf,
} from "./index.ts";

const SETTINGS = { operatorNamespace: "quoin-system", clusterDomain: "cluster.local", manualUrl: "" };
const PLACEMENT: Placement = { replicas: 3, minAvailable: 2 };
const GOLDEN = path.join(import.meta.dirname, "golden");

const PRODUCTION: Partial<ClusterSpec> = {
  replicas: 5,
  image: { repository: "registry.example/quoin", pullPolicy: "IfNotPresent", pullSecrets: [{ name: "registry" }] },
  storage: { size: "50Gi", storageClassName: "fast", whenDeleted: "Retain", whenScaled: "Delete" },
  resources: { requests: { cpu: "1", memory: "2Gi" }, limits: { memory: "4Gi" } },
  scheduling: { spread: "Required" },
  podTemplate: {
    metadata: { annotations: { team: "platform" } },
    spec: { priorityClassName: "high", tolerations: [{ key: "coordination", operator: "Exists" }] },
  },
  tls: {
    mode: "CertManager",
    issuerRef: { name: "internal", kind: "ClusterIssuer", group: "cert-manager.io" },
    extraDnsNames: ["quoin.example.com"],
    certificateDays: 90,
    renewBeforeDays: 30,
  },
  services: {
    client: { type: "LoadBalancer", annotations: { "example.com/internal": "true" } },
    leader: { enabled: true, type: "ClusterIP" },
  },
  networkPolicy: { enabled: true, clients: [{ namespaceSelector: {} }] },
  monitoring: { podMonitor: { enabled: true, interval: "15s" }, rules: { enabled: true } },
};
const CORPUS: ReadonlyMap<string, CoordinationCluster> = new Map([
  ["smallest", clusterOf()],
  ["production", clusterOf(PRODUCTION, "prod")],
  [
    "plain",
    clusterOf({
      tls: { mode: "Off", certificateDays: 90, renewBeforeDays: 30 },
      security: { userIds: "Platform" },
      scheduling: { spread: "None" },
      resources: {},
      services: { client: { type: "ClusterIP" }, leader: { enabled: false, type: "ClusterIP" } },
    }),
  ],
]);

function find(objects: readonly Manifest[], kind: string, name: string): Manifest | undefined {
  return objects.find((object) => object.kind === kind && object.metadata?.name === name);
}

function withPod(spec: Record<string, unknown>): CoordinationCluster {
  return clusterOf({ podTemplate: { spec } });
}

describe("render", () => {
  for (const [name, cluster] of CORPUS) {
    it(`gives the objects of golden/${name}.yaml`, () => {
      const file = path.join(GOLDEN, `${name}.yaml`);
      const text = render(cluster, PLACEMENT, SETTINGS)
        .map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }))
        .join("---\n");
      if (!existsSync(file) && process.env.UPDATE_GOLDEN === "1") {
        writeFileSync(file, text);
      }
      expect(text).to.equal(readFileSync(file, "utf8"));
    });

    it(`gives the same pods to ${name} whatever the operator's settings, and however many members there are`, () => {
      const templates = ([1, 3, 5, 7] as const).map((replicas) => {
        const scaled = { ...cluster, spec: { ...cluster.spec, replicas } };
        const settings = {
          operatorNamespace: `elsewhere-${replicas}`,
          clusterDomain: `domain-${replicas}`,
          manualUrl: "https://docs.example",
        };
        const objects = render(scaled, { replicas, minAvailable: null }, settings);
        const set = find(objects, "StatefulSet", cluster.metadata.name) as { spec: { template: object } } & Manifest;
        expect(set.metadata?.annotations).to.include({ "quoin.dev/template-hash": templateHashOf(set.spec.template) });
        return set.spec.template;
      });
      expect(new Set(templates.map((template) => JSON.stringify(template))).size).to.equal(1);
    });
  }

  it("asks in its rules for metrics that members have", () => {
    const documented = readFileSync(path.join(import.meta.dirname, "../../../docs/metrics.md"), "utf8");
    const names = new Set([...documented.matchAll(/^\| `(quoin_[a-z0-9_]+)`/gm)].map(([, name]) => name));
    const backup = { storeName: "store", archive: true, interval: "24h" };
    const cluster = clusterOf({ ...PRODUCTION, backup }, "prod");
    const rules = find(render(cluster, PLACEMENT, SETTINGS), "PrometheusRule", "prod");
    const asked = new Set(JSON.stringify(rules).match(/\bquoin_[a-z0-9_]+(?=\{)/g));
    expect(asked.size).to.be.greaterThan(5);
    const ofBackups = [...asked].filter((name) => /^quoin_(backup|archive)_/.test(name));
    expect(ofBackups).to.have.members([
      "quoin_backup_last_success_timestamp_seconds",
      "quoin_archive_lag_seconds",
      "quoin_archive_chain_broken",
      "quoin_archive_failures_total",
      "quoin_backup_verified_timestamp_seconds",
    ]);
    expect([...asked].filter((name) => !names.has(name.replace(/_bucket$/, "")))).to.deep.equal([]);
  });

  it("changes the pods for another version and for a requested restart, but not for other metadata", () => {
    const hash = (cluster: CoordinationCluster): string => templateHashOf(renderPodTemplate(cluster, NO_STORES));
    const cluster = clusterOf();
    const annotate = (annotations: Record<string, string>): CoordinationCluster => ({
      ...cluster,
      metadata: { ...cluster.metadata, annotations, resourceVersion: "9", generation: 9 },
    });
    expect(hash(clusterOf({ version: "1.5.0" }))).not.to.equal(hash(cluster));
    expect(hash(annotate({ "quoin.dev/restart": "2" }))).not.to.equal(hash(cluster));
    expect(hash(annotate({ "quoin.dev/paused": "true" }))).to.equal(hash(cluster));
    expect(hash({ ...cluster, status: { term: 3, leader: "demo-1" } })).to.equal(hash(cluster));
  });

  it("tells members by variables which traces to keep, so that former versions start all the same", () => {
    const tracing = { endpoint: "http://collector.monitoring:4318", ratio: 0.05, slowRequestMs: 250 };
    const cluster = clusterOf({ tracing });
    const [member] = renderPodTemplate(cluster, NO_STORES).spec?.containers ?? [];
    const variables = Object.fromEntries((member?.env ?? []).map(({ name, value }) => [name, value]));
    expect(variables).to.include({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.monitoring:4318",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.05",
      QUOIN_TRACE_SLOW_MS: "250",
    });
    expect(JSON.stringify(renderPodTemplate(clusterOf(), NO_STORES))).to.not.match(/OTEL_|TRACE/);
    expect(member?.args?.join()).to.not.include("trace");
  });

  it("names the origins whose pages may call by a variable, so that former versions start all the same", () => {
    const corsOrigins = ["https://console.example.com", "http://localhost:3000"];
    const { services } = clusterOf().spec;
    const [member] =
      renderPodTemplate(clusterOf({ services: { ...services, corsOrigins } }), NO_STORES).spec?.containers ?? [];
    expect(member?.env).to.deep.include({
      name: "QUOIN_CORS_ORIGINS",
      value: "https://console.example.com,http://localhost:3000",
    });
    for (const none of [undefined, []]) {
      const cluster = clusterOf({ services: { ...services, ...(none && { corsOrigins: none }) } });
      expect(JSON.stringify(renderPodTemplate(cluster, NO_STORES))).to.not.match(/CORS|cors/);
    }
  });

  it("hashes the content of a template, not its field order", () => {
    expect(templateHashOf({ metadata: { name: "a", namespace: "b" } })).to.equal(
      templateHashOf({ metadata: { namespace: "b", name: "a" } }),
    );
  });

  it("repeats the claim templates of a set that exists: they cannot be changed", () => {
    const old = [{ metadata: { name: "data" }, spec: { resources: { requests: { storage: "1Gi" } } } }];
    const objects = render(clusterOf(), { ...PLACEMENT, volumeClaimTemplates: old }, SETTINGS);
    const set = find(objects, "StatefulSet", "demo") as { spec: { volumeClaimTemplates: object } } | undefined;
    expect(set?.spec.volumeClaimTemplates).to.equal(old);
  });

  it("owns every object, so that deletion needs no operator", () => {
    for (const cluster of CORPUS.values()) {
      for (const { kind, metadata } of render(cluster, PLACEMENT, SETTINGS)) {
        expect(metadata?.ownerReferences, kind).to.deep.equal([
          {
            apiVersion: "quoin.dev/v1alpha1",
            kind: "CoordinationCluster",
            name: cluster.metadata.name,
            uid: "cr-uid",
            controller: true,
            blockOwnerDeletion: true,
          },
        ]);
      }
    }
  });

  it("asks for addresses of both families where the specification does, and else leaves the choice to Kubernetes", () => {
    const services = {
      client: { type: "ClusterIP", ipFamilyPolicy: "PreferDualStack" },
      leader: { type: "ClusterIP", enabled: true, ipFamilyPolicy: "RequireDualStack" },
    } as const;
    const policies = (cluster: CoordinationCluster): unknown[] =>
      ["demo", "demo-leader"].map((name) => {
        const service = find(render(cluster, PLACEMENT, SETTINGS), "Service", name) as { spec: object } | undefined;
        return service?.spec;
      });
    expect(policies(clusterOf({ services }))).to.containSubset([
      { ipFamilyPolicy: "PreferDualStack" },
      { ipFamilyPolicy: "RequireDualStack" },
    ]);
    for (const spec of policies(clusterOf())) {
      expect(spec).to.not.have.property("ipFamilyPolicy");
    }
  });

  it("names the certificate for all members at once, and for the Services", () => {
    const names = dnsNamesOf(
      clusterOf({ tls: { ...clusterOf().spec.tls, extraDnsNames: ["quoin.example"] } }),
      "a.local",
    );
    expect(names).to.include.members([
      "*.demo-peers.default.svc",
      "demo.default.svc.a.local",
      "demo-leader",
      "quoin.example",
    ]);
  });

  for (const [memory, mebibytes] of [
    ["2Gi", 1024],
    ["2e9", 953],
    ["1288490188800m", 614],
    ["+1.5Gi", 768],
    [2_000_000_000, 953],
  ] as const) {
    it(`gives half of the memory limit ${memory} to the heap`, () => {
      const cluster = clusterOf({ resources: { limits: { memory: memory as string } } });
      const { spec } = renderPodTemplate(cluster, NO_STORES);
      const options = spec?.containers[0]?.env?.find(({ name }) => name === "NODE_OPTIONS")?.value;
      expect(options).to.equal(`--max-old-space-size=${mebibytes}`);
    });
  }

  describe("lays the overlay over the pod", () => {
    it("maps merge, named items merge, other lists replace", () => {
      const { spec } = renderPodTemplate(
        withPod({
          nodeSelector: { disk: "fast" },
          securityContext: { fsGroup: 5 },
          containers: [
            { name: "quoin", env: [{ name: "TZ", value: "UTC" }], resources: { limits: { cpu: "4" } } },
            { name: "sidecar", image: "sidecar:1" },
          ],
          volumes: [{ name: "extra", emptyDir: {} }],
        }),
        NO_STORES,
      );
      expect(spec?.nodeSelector).to.deep.equal({ disk: "fast" });
      expect(spec?.securityContext).to.include({ fsGroup: 5, runAsUser: 10_001 });
      expect(spec?.containers.map(({ name }) => name)).to.deep.equal(["quoin", "sidecar"]);
      expect(spec?.containers[0]?.env?.at(-1)).to.deep.equal({ name: "TZ", value: "UTC" });
      expect(spec?.containers[0]?.resources?.limits).to.deep.equal({ memory: "2Gi", cpu: "4" });
      expect(spec?.volumes?.at(-1)).to.deep.equal({ name: "extra", emptyDir: {} });
    });

    it("an own affinity replaces the usual spread", () => {
      const { spec } = renderPodTemplate(withPod({ affinity: { nodeAffinity: {} } }), NO_STORES);
      expect(spec?.affinity).to.deep.equal({ nodeAffinity: {} });
      expect(spec?.topologySpreadConstraints).to.equal(undefined);
    });

    const member = (fields: object): object => ({ containers: [{ name: "quoin", ...fields }] });
    const refused: readonly (readonly [what: string, spec: object, field: string])[] = [
      ["another account", { serviceAccountName: "admin" }, "serviceAccountName"],
      ["another restart policy", { restartPolicy: "Never" }, "restartPolicy"],
      ["too little grace", { terminationGracePeriodSeconds: 39 }, "terminationGracePeriodSeconds"],
      ["another command", member({ command: ["sh"] }), "containers[quoin].command"],
      ["another image", member({ image: "other" }), "containers[quoin].image"],
      ["other ports", member({ ports: [] }), "containers[quoin].ports"],
      ["another probe", member({ livenessProbe: {} }), "containers[quoin].livenessProbe"],
      ["own environment", member({ env: [{ name: "QUOIN_POD_IP", value: "::1" }] }), "env[QUOIN_POD_IP]"],
      ["an own mount", member({ volumeMounts: [{ name: "x", mountPath: "/data" }] }), "volumeMounts[/data]"],
      ["an own volume", { volumes: [{ name: "tokens", emptyDir: {} }] }, "volumes[tokens]"],
      ["the volume of the data", { volumes: [{ name: "data", emptyDir: {} }] }, "volumes[data]"],
      ["a list that is none", { containers: "quoin" }, "containers must be a list"],
    ];
    for (const [what, spec, field] of refused) {
      it(`refuses ${what}`, () => {
        expect(() => renderPodTemplate(withPod({ ...spec }), NO_STORES)).to.throw(OverlayError, field);
      });
    }
    it("allows more grace", () => {
      const { spec } = renderPodTemplate(withPod({ terminationGracePeriodSeconds: 60 }), NO_STORES);
      expect(spec?.terminationGracePeriodSeconds).to.equal(60);
    });
  });
});
