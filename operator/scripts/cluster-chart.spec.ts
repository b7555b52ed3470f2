/**
 * The chart of a cluster, as helm renders it: its CoordinationClusters fit the definition, and its refusals name the
 * value.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
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
import { readDefinition, schemaOf, toJsonSchema } from "./definition.ts";
import { refusalsOf } from "./rules.ts";

const CHART = "quoin-cluster";
const ROOT = path.resolve(import.meta.dirname, "../..");
const METRICS = path.join(ROOT, "docs/metrics.md");
/** Without the metrics of kube-state-metrics and of Prometheus itself. */
const PROCESS_METRICS = ["process_resident_memory_bytes"];

describe("chart quoin-cluster", () => {
  const schema = schemaOf(readDefinition());
  const ajv = new Ajv({ useDefaults: true, allErrors: true, strictTypes: false, validateFormats: false });
  const fillIn = ajv.compile({ ...toJsonSchema(schema) } as Record<string, unknown>);
  let helm: Helm;

  before(function () {
    helm = helmOrSkip(this);
  });

  const render = (...files: string[]): RenderedObject[] => helm.render(CHART, { files });
  const clusterOf = (objects: RenderedObject[]) => objectOf(objects, "CoordinationCluster");
  const containerOf = (objects: RenderedObject[]) => objectOf(objects, "Pod").spec.containers[0];

  function environmentOf(objects: RenderedObject[]): Map<string, unknown> {
    const variables: { name: string; value?: string; valueFrom?: object }[] = containerOf(objects).env;
    return new Map(variables.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
  }

  for (const file of valueFilesOf(CHART)) {
    it(`renders ${file}.yaml to an object that the definition and its rules admit`, () => {
      const lint = helm.lint(CHART, { files: [file] });
      expect(lint.failed, lint.output).to.equal(false);
      const objects = render(file);
      const cluster = structuredClone(clusterOf(objects));
      fillIn(cluster);
      expect(fillIn.errors).to.equal(null);
      expect(refusalsOf(schema, cluster)).to.deep.equal([]);
      for (const object of objects) {
        expect(unknownFields(object) ?? [], `${object.kind} ${object.metadata.name}`).to.deep.equal([]);
      }
    });
  }

  it("takes the specification over as it is, over that of the chart", () => {
    const { cluster } = parse(readFileSync(path.join(chartFolder(CHART), "ci/production.yaml"), "utf8"));
    const { metadata, spec } = clusterOf(render("production"));
    expect(spec).to.deep.equal(cluster);
    expect(metadata).to.deep.include({ name: "store", namespace: NAMESPACE, annotations: { team: "platform" } });
    expect(clusterOf(render("default"))).to.deep.include({ spec: { replicas: 3 } });
    expect(clusterOf(render("default")).metadata.name).to.equal("prod");
  });

  it("renders the objects that the Tiltfile expects", () => {
    const values = parse(readFileSync(path.join(ROOT, "tilt/cluster.yaml"), "utf8"));
    const cluster = clusterOf(helm.render(CHART, { set: values }));
    expect(cluster.metadata.name).to.equal("demo");
    expect(cluster.spec).to.deep.equal(values.cluster);
  });

  it("tests with an image that has quoinctl: the members' if it is known", () => {
    const image = (file: string): string => containerOf(render(file)).image;
    const { appVersion } = parse(readFileSync(path.join(chartFolder(CHART), "Chart.yaml"), "utf8"));
    expect(image("default")).to.equal(`quoin:${appVersion}`);
    expect(image("production")).to.equal("registry.example/quoin:1.4.0");
    expect(image("digest")).to.match(/^registry\.example\/quoin@sha256:[0-9a-f]{64}$/);
    expect(render("without-test").map(({ kind }) => kind)).to.deep.equal(["CoordinationCluster"]);
  });

  it("tests through both Services, as the owner, whose key is in no argument", () => {
    const environment = environmentOf(render("production"));
    expect(environment.get("SERVICES")).to.equal("store store-leader");
    expect(environment.get("QUOIN_API_KEY")).to.deep.equal({ secretKeyRef: { name: "store-owner", key: "api-key" } });
    expect(environment.get("QUOIN_CA_PEM")).to.deep.equal({ configMapKeyRef: { name: "store-ca", key: "ca.crt" } });
    const plain = environmentOf(render("plain-text"));
    expect(plain.get("SERVICES")).to.equal("prod");
    expect(plain.has("QUOIN_CA_PEM")).to.equal(false);
  });

  it("tests in a pod that the level Restricted lets in, and that no Service or budget takes for a member", () => {
    const pod = objectOf(render("production"), "Pod");
    expect(pod.metadata.annotations).to.include({ "helm.sh/hook": "test" });
    expect(pod.metadata.labels).to.include({ access: "quoin" }).and.not.have.property("quoin.dev/cluster");
    expect(pod.spec.securityContext).to.deep.include({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(pod.spec.containers[0].securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(objectOf(render("digest"), "Pod").spec.securityContext).to.not.have.property("runAsUser");
    expect(pod.spec.imagePullSecrets).to.deep.equal([{ name: "registry" }]);
  });

  it("tests with a script that a shell can parse, and that arrives unchanged", () => {
    const script = readFileSync(path.join(chartFolder(CHART), "files/test.sh"), "utf8");
    const { command, args } = containerOf(render("default"));
    expect([...command, args[0].trim()]).to.deep.equal(["sh", "-c", script.trim()]);
    const { status, stderr } = spawnSync("sh", ["-n"], { input: script, encoding: "utf8" });
    expect(status, stderr).to.equal(0);
  });

  it("asks on the dashboard for metrics that there are, of this cluster alone", () => {
    const objects = render("monitoring");
    const dashboard = objectOf(objects, "ConfigMap").data["prod.json"];
    const { panels, uid, title, templating } = JSON.parse(dashboard);
    expect(title).to.equal(`Quoin: ${NAMESPACE}/prod`);
    expect(uid).to.match(/^[0-9a-f]{32}$/);
    expect(templating.list).to.have.length(3);
    const queries: string[] = panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    );
    const told = readFileSync(METRICS, "utf8");
    for (const query of queries) {
      const names = query.replace(/quoin_dev_cluster/g, "").match(/\b(quoin|process)_[a-z_]+/g) ?? [];
      expect(names, query).to.not.deep.equal([]);
      for (const name of names.filter((each) => !PROCESS_METRICS.includes(each))) {
        expect(told).to.include(`| \`${name.replace(/_bucket$/, "")}\` `);
      }
      const selections = query.match(/quoin_dev_cluster="(prod|\$cluster)"/g) ?? [];
      expect(selections.length, query).to.equal(names.length);
    }
    expect(objectOf(objects, "ConfigMap").metadata.labels).to.include({
      release: "prometheus",
      "app.kubernetes.io/name": "quoin-cluster",
    });
  });

  it("renders further objects with templates in them", () => {
    const { metadata, data } = objectOf(render("digest"), "ConfigMap");
    expect([metadata.name, data.endpoint]).to.deep.equal(["prod-clients", "prod:7400"]);
  });

  const refusals: [Record<string, unknown>, RegExp][] = [
    [{ "cluster.replicas": 4 }, /'\/cluster\/replicas': value must be one of 1, 3, 5, 7/],
    [{ "cluster.replica": 3 }, /'\/cluster': .*'replica' not allowed/],
    [{ "cluster.version": "v1.4" }, /'\/cluster\/version'/],
    [{ "cluster.storage.sze": "8Gi" }, /'\/cluster\/storage': .*'sze' not allowed/],
    [{ "cluster.tls.mode": "Of" }, /'\/cluster\/tls\/mode': value must be one of/],
    [{ "cluster.tls.certificateDays": 1 }, /'\/cluster\/tls\/certificateDays': minimum/],
    [{ "cluster.image.pullSecrets": ["a"] }, /'\/cluster\/image\/pullSecrets\/0': got string, want object/],
    [{ "cluster.services.client.type": "ExternalName" }, /'\/cluster\/services\/client\/type'/],
    [{ "cluster.settings.rateLimits.http.burst": 0 }, /'\/cluster\/settings\/rateLimits\/http\/burst': minimum/],
    [{ "cluster.monitoring.podMonitor.interval": "soon" }, /'\/cluster\/monitoring\/podMonitor\/interval'/],
    [{ name: "Prod" }, /'\/name': 'Prod' does not match pattern/],
    [{ replicas: 3 }, /'replicas' not allowed/],
    [{ "test.labels": { a: 1 } }, /'\/test\/labels\/a': got number, want string/],
  ];
  for (const [set, message] of refusals) {
    it(`refuses ${JSON.stringify(set)}, and names the value`, () => {
      expect(helm.refusal(CHART, set)).to.match(message);
    });
  }

  it("shows how to reach the cluster, and what an uninstallation keeps", () => {
    const notes = helm.notes(CHART);
    expect(notes).to.include("prod-leader").and.to.include("--ca /etc/quoin").and.to.include("get the cluster back");
    const plain = helm.notes(CHART, { files: ["plain-text"] });
    expect(plain).to.not.match(/--ca |-leader/);
    expect(plain).to.include("deletes the volumes");
    for (const text of [notes, plain]) {
      // Every user of a machine can see the arguments of its processes.
      expect(text).to.include("QUOIN_API_KEY=$(cat)").and.to.not.include("--env");
    }
  });
});
