/** The chart of the operator, as helm renders it. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import {
  chartFolder,
  type Helm,
  helmOrSkip,
  NAMESPACE,
  objectOf,
  type RenderedObject,
  unknownFields,
  valueFilesOf,
} from "../test/charts/index.ts";
import { parseConfiguration } from "./configuration.ts";
import { OperatorMetrics } from "./telemetry/index.ts";

const CHART = "quoin-operator";
const DEFINITIONS = ["clusters", "backupstores", "backups", "backupschedules"].map((kind) =>
  path.resolve(import.meta.dirname, `../../crds/quoin.dev_coordination${kind}.yaml`),
);
const CLUSTER_SCOPED = ["ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"];

describe("chart quoin-operator", () => {
  let helm: Helm;

  before(function () {
    helm = helmOrSkip(this);
  });

  const render = (...files: string[]): RenderedObject[] => helm.render(CHART, { files });
  const podOf = (objects: RenderedObject[]) => objectOf(objects, "Deployment").spec.template.spec;
  const containerOf = (objects: RenderedObject[]) => podOf(objects).containers[0];

  /** Arguments as the operator itself parses them. */
  function configurationOf(objects: RenderedObject[]) {
    const args: string[] = containerOf(objects).args.map((arg: string) =>
      arg.replace("$(POD_NAME)", "operator-1").replace("$(POD_NAMESPACE)", NAMESPACE),
    );
    return parseConfiguration(args, "1.2.3");
  }

  for (const file of valueFilesOf(CHART)) {
    it(`renders ${file}.yaml for the oldest Kubernetes and a new one, with fields that it knows`, () => {
      const lint = helm.lint(CHART, { files: [file] });
      expect(lint.failed, lint.output).to.equal(false);
      const objects = render(file);
      expect(helm.render(CHART, { files: [file], version: "1.36.0" })).to.deep.equal(objects);
      for (const object of objects) {
        expect(unknownFields(object) ?? [], `${object.kind} ${object.metadata.name}`).to.deep.equal([]);
      }
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
      expect(new Set(names).size).to.equal(names.length);
      expect(configurationOf(objects).instance).to.equal("operator-1");
    });

    it(`renders pods that the level Restricted lets in, with ${file}.yaml`, () => {
      const { securityContext: ofPod, volumes } = podOf(render(file));
      const { securityContext: own } = containerOf(render(file));
      expect(ofPod).to.include({ runAsNonRoot: true });
      expect(ofPod.seccompProfile).to.deep.equal({ type: "RuntimeDefault" });
      expect(own).to.deep.include({ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } });
      expect(own.readOnlyRootFilesystem).to.equal(true);
      expect(volumes.every((volume: object) => "emptyDir" in volume)).to.equal(true);
    });
  }

  it("passes the values to the operator", () => {
    const byDefault = configurationOf(render("default"));
    expect(byDefault).to.deep.equal({
      instance: "operator-1",
      namespace: NAMESPACE,
      watchNamespaces: [],
      clusterDomain: "cluster.local",
      manualUrl: "",
      leaseName: "quoin-operator",
      memberVersion: "1.2.3",
      memberRepository: "quoin",
      health: { host: "*", port: 8080 },
      logLevel: "info",
    });
    expect(configurationOf(render("production"))).to.deep.include({
      memberVersion: "1.4.0",
      memberRepository: "registry.example/mirror/quoin",
      health: { host: "::", port: 8080 },
      logLevel: "warn",
    });
    expect(configurationOf(render("namespaced"))).to.deep.include({
      watchNamespaces: ["team-a", "team-b"],
      leaseName: "team-quoin",
    });
    expect(configurationOf(render("mirror")).memberRepository).to.equal("registry.example/members/quoin");
    expect(configurationOf(render("openshift")).clusterDomain).to.equal("corp.internal");
  });

  it("names the image by registry, tag and digest", () => {
    const image = (file: string): string => containerOf(render(file)).image;
    const { appVersion } = parse(readFileSync(path.join(chartFolder(CHART), "Chart.yaml"), "utf8"));
    expect(image("default")).to.equal(`quoin:${appVersion}`);
    expect(image("mirror")).to.equal("registry.example/platform/quoin:0.1.0-debug");
    expect(image("production")).to.match(/^registry\.example\/mirror\/quoin@sha256:[0-9a-f]{64}$/);
  });

  it("brings the version that the operator has", () => {
    const { version } = JSON.parse(readFileSync(path.resolve(import.meta.dirname, "../package.json"), "utf8"));
    const chart = parse(readFileSync(path.join(chartFolder(CHART), "Chart.yaml"), "utf8"));
    expect(chart).to.include({ version, appVersion: version });
  });

  it("installs the definitions as they are, and keeps them", () => {
    const text = helm.text(CHART, "templates/crds.yaml");
    const keep = "    helm.sh/resource-policy: keep\n";
    expect(text.split(keep)).to.have.length(1 + DEFINITIONS.length);
    const [kept, left] = ["default", "mirror"].map((file) =>
      render(file).filter(({ kind }) => kind === "CustomResourceDefinition"),
    );
    expect([kept?.length, left?.length]).to.deep.equal([DEFINITIONS.length, DEFINITIONS.length]);
    for (const file of DEFINITIONS) {
      const source = readFileSync(file, "utf8");
      const { name, annotations } = parse(source).metadata;
      const annotationsIn = (objects: RenderedObject[] | undefined) =>
        objects?.find(({ metadata }) => metadata.name === name)?.metadata.annotations;
      expect(text.replaceAll(keep, "")).to.include(source.trimEnd());
      expect(annotationsIn(kept)).to.deep.equal({ ...annotations, "helm.sh/resource-policy": "keep" });
      expect(annotationsIn(left)).to.deep.equal(annotations);
    }
  });

  it("has no object without a namespace when namespaces are named and the definition is left to others", () => {
    const objects = render("namespaced");
    expect(objects.filter(({ kind }) => CLUSTER_SCOPED.includes(kind))).to.deep.equal([]);
    const roles = objects.filter(({ kind }) => kind === "Role").map(({ metadata }) => metadata.namespace);
    expect(roles).to.have.members(["team-a", "team-b", NAMESPACE]);
    const subjects = objects
      .filter(({ kind }) => kind === "RoleBinding")
      .flatMap(({ subjects: each }) => each as object[]);
    expect(subjects).to.deep.equal(
      Array.from({ length: 3 }, () => ({ kind: "ServiceAccount", name: "deployer", namespace: NAMESPACE })),
    );
    expect(objects.filter(({ kind }) => kind === "ServiceAccount" || kind === "PodDisruptionBudget")).to.deep.equal([]);
    expect(podOf(objects).serviceAccountName).to.equal("deployer");
  });

  it("selects its own pods, by labels that no version and no user changes", () => {
    for (const file of ["default", "production"]) {
      const objects = render(file);
      const { spec } = objectOf(objects, "Deployment");
      expect(spec.selector.matchLabels).to.deep.equal({
        "app.kubernetes.io/name": "quoin-operator",
        "app.kubernetes.io/instance": "prod",
      });
      expect(spec.template.metadata.labels).to.include(spec.selector.matchLabels);
      const budget = objectOf(objects, "PodDisruptionBudget");
      expect(budget.spec).to.deep.equal({ maxUnavailable: 1, selector: spec.selector });
    }
  });

  it("leaves user and group to OpenShift", () => {
    expect(podOf(render("openshift")).securityContext).to.have.all.keys("runAsNonRoot", "seccompProfile");
    expect(podOf(render("default")).securityContext).to.include({ runAsUser: 10001, fsGroup: 10001 });
  });

  it("takes one setting of the security context without losing the others, as the Tiltfile wants it", () => {
    const values = parse(readFileSync(path.resolve(import.meta.dirname, "../../tilt/operator.yaml"), "utf8"));
    const objects = helm.render(CHART, { set: values });
    const { securityContext, env } = containerOf(objects);
    expect(securityContext).to.deep.include({ readOnlyRootFilesystem: false, allowPrivilegeEscalation: false });
    expect(env).to.deep.include({ name: "QUOIN_WATCH", value: "1" });
    expect(objectOf(objects, "Deployment").metadata.name).to.equal("quoin-operator");
    expect(objects.map(({ kind }) => kind)).to.not.include("CustomResourceDefinition");
  });

  it("extends the roles that may edit a namespace to its clusters, unless that is disabled", () => {
    const labelsOf = (file: string) =>
      render(file)
        .filter(({ kind }) => kind === "ClusterRole")
        .flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}))
        .filter((label) => label.startsWith("rbac.authorization.k8s.io/aggregate-to-"));
    expect(labelsOf("default")).to.have.length(5);
    expect(labelsOf("mirror")).to.deep.equal([]);
  });

  it("has monitors, a Service and a policy on request, for the port that is there", () => {
    const none = ["ServiceMonitor", "PodMonitor", "PrometheusRule", "NetworkPolicy", "Service", "ConfigMap"];
    expect(render("default").filter(({ kind }) => none.includes(kind))).to.deep.equal([]);
    const objects = render("monitoring");
    const selector = objectOf(objects, "Deployment").spec.selector;
    const ports = containerOf(objects).ports.map(({ name }: { name: string }) => name);
    expect(ports).to.deep.equal(["health"]);
    expect(objectOf(objects, "PodMonitor").spec).to.deep.equal({
      selector,
      podMetricsEndpoints: [{ port: "health", path: "/metrics" }],
    });
    expect(objectOf(objects, "ServiceMonitor").spec).to.deep.equal({
      selector,
      endpoints: [{ port: "health", path: "/metrics", interval: "15s" }],
    });
    const service = objectOf(objects, "Service");
    expect(service.spec.selector).to.deep.equal(selector.matchLabels);
    expect(service.spec.ports[0].targetPort).to.equal("health");
    expect(service.metadata.labels).to.include(selector.matchLabels);
    expect(objectOf(objects, "NetworkPolicy").spec).to.deep.include({ podSelector: selector });
    expect(objectOf(objects, "PodMonitor").metadata.labels).to.include({ release: "prometheus" });
  });

  it("asks in alerts and on the dashboard for metrics that there are", async () => {
    const objects = render("monitoring");
    const dashboard = objectOf(objects, "ConfigMap").data["quoin-operator.json"];
    expect(JSON.parse(dashboard).panels).to.have.length(10);
    const asked = `${dashboard}${JSON.stringify(objectOf(objects, "PrometheusRule").spec)}`;
    const state = { queueDepth: () => 0, isLeader: () => true, watchAges: () => new Map() };
    const told = await new OperatorMetrics(state).text();
    const names = new Set(asked.match(/quoin_operator_[a-z_]+/g));
    expect(names.size).to.be.greaterThan(7);
    for (const name of names) {
      expect(told).to.include(`# TYPE ${name.replace(/_bucket$/, "")} `);
    }
  });

  it("has its alerts, which link to the manual if it knows where that is", () => {
    const text = readFileSync(path.join(chartFolder(CHART), "files/rules.yaml"), "utf8");
    const rulesOf = (values: string): RenderedObject => objectOf(render(values), "PrometheusRule").spec;
    expect(rulesOf("monitoring")).to.deep.equal(parse(text.replaceAll("MANUAL", "https://docs.example/quoin")));
    const lines = text.split("\n").filter((line) => !line.includes("runbook_url:"));
    expect(rulesOf("production")).to.deep.equal(parse(lines.join("\n")));
  });

  it("renders further objects, given as objects and as text, with templates in them", () => {
    const maps = render("mirror").filter(({ kind }) => kind === "ConfigMap");
    expect(maps.map(({ metadata }) => metadata.name)).to.deep.equal(["prod-note", "quoin-operator-text"]);
  });

  const refusals: [Record<string, unknown>, RegExp][] = [
    [{ replica: 3 }, /'replica' not allowed/],
    [{ replicas: "2" }, /'\/replicas': got string, want integer/],
    [{ "crds.instal": true }, /'\/crds': .*'instal' not allowed/],
    [{ logLevel: "verbose" }, /'\/logLevel': value must be one of/],
    [{ "image.digest": "sha256:1" }, /'\/image\/digest'/],
    [{ memberVersion: "v1.4" }, /'\/memberVersion'/],
    [{ watchNamespaces: ["Team"] }, /'\/watchNamespaces\/0'/],
    [{ "serviceAccount.create": false }, /'\/serviceAccount\/name': minLength/],
    [{ imagePullSecrets: ["registry"] }, /'\/imagePullSecrets\/0': got string, want object/],
    [{ "metrics.rules": true }, /'\/metrics\/rules': got boolean, want object/],
    [{ fullnameOverride: "Quoin" }, /'\/fullnameOverride'/],
  ];
  for (const [set, message] of refusals) {
    it(`refuses ${JSON.stringify(set)}, and names the value`, () => {
      expect(helm.refusal(CHART, set)).to.match(message);
    });
  }

  it("admits the global values of a parent chart", () => {
    expect(helm.refusal(CHART, { "global.somethingElse": { a: 1 } })).to.equal("");
  });

  it("shows what remains after an uninstallation", () => {
    expect(helm.notes(CHART)).to.include("--take-ownership").and.to.include("crds.install=false");
    expect(helm.notes(CHART, { files: ["mirror"] })).to.include("deletes the definition and with it ALL clusters");
    expect(helm.notes(CHART, { files: ["namespaced"] })).to.include("team-a, team-b");
  });
});
