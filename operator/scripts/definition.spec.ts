import { readFileSync } from "node:fs";
import type { V1StatefulSet } from "@kubernetes/client-node";
import { Ajv } from "ajv";
import { expect } from "chai";
import { ACCEPTED, NAMES, PRODUCTION, REFUSED } from "../../crds/requests/index.ts";
import { render } from "../src/render/index.ts";
import { clusterOf } from "../test/index.ts";
import { type DefinitionSchema, readDefinition, schemaOf, toJsonSchema } from "./definition.ts";
import { findDocumentExamples } from "./document-examples.ts";
import { refusalsOf } from "./rules.ts";
import { describeTypes } from "./types.ts";

const definition = readDefinition();
const schema = schemaOf(definition);

function validator(useDefaults: boolean) {
  const ajv = new Ajv({ useDefaults, allErrors: true, strictTypes: false });
  ajv.addFormat("int32", { type: "number", validate: (value: number) => Math.abs(value) <= 2 ** 31 });
  ajv.addFormat("int64", { type: "number", validate: Number.isSafeInteger });
  ajv.addFormat("date-time", (text) => !Number.isNaN(Date.parse(text)));
  return ajv.compile({ ...toJsonSchema(schema) } as Record<string, unknown>);
}

const fillIn = validator(true);

/** The field that is invalid, unknown or missing, in Kubernetes' notation. */
function fieldOf(
  path: string,
  { additionalProperty, missingProperty }: { additionalProperty?: string; missingProperty?: string },
): string {
  return [...path.slice(1).split("/"), additionalProperty ?? missingProperty ?? []].flat().join(".");
}

/** A whole object with this specification and the defaults that the API server would add. */
function admit(spec: object, name = "demo"): { problems: string[]; object: { spec: Record<string, unknown> } } {
  const object = {
    apiVersion: "quoin.dev/v1alpha1",
    kind: "CoordinationCluster",
    metadata: { name },
    spec: structuredClone(spec) as Record<string, unknown>,
  };
  fillIn(object);
  const problems = (fillIn.errors ?? []).map(
    ({ instancePath, params, message }) => `${fieldOf(instancePath, params)} ${message}`,
  );
  return { problems, object };
}

/** As `admit`, and with the rules, which are evaluated only if the object fits the schema. */
function refusals(spec: object, from?: object, name?: string, status?: object): string[] {
  const { problems, object } = admit(spec, name);
  const told = status === undefined ? {} : { status };
  const old = from === undefined ? undefined : { ...admit(from, name).object, ...told };
  return problems.length > 0 ? problems : refusalsOf(schema, object, old);
}

/** All nodes of a schema, with their paths. */
function* nodes(node: DefinitionSchema, at: string): Generator<[string, DefinitionSchema]> {
  yield [at, node];
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    yield* nodes(child, `${at}.${name}`);
  }
  for (const child of [node.items, node.additionalProperties]) {
    if (child !== undefined) {
      yield* nodes(child, `${at}[]`);
    }
  }
}

describe("definition of CoordinationCluster", () => {
  it("fits the generated types", async () => {
    const file = new URL("../src/generated/coordination-cluster.ts", import.meta.url);
    expect(readFileSync(file, "utf8")).to.equal(await describeTypes("coordinationclusters"));
  });

  it("admits the examples in the documents, and describes each field", () => {
    const shown = findDocumentExamples().filter(({ kind }) => kind === "CoordinationCluster");
    expect(shown).to.have.lengthOf.at.least(10);
    for (const { document, name, spec } of shown) {
      expect(refusals(spec, undefined, name), `${document}: ${JSON.stringify(spec)}`).to.deep.equal([]);
    }
    const parts = [schema.properties?.spec, schema.properties?.status].flatMap((part) => [...nodes(part ?? {}, "")]);
    const silent = parts.filter(([at, { description }]) => /\w$/.test(at) && description === undefined);
    // Kubernetes' own kinds; Kubernetes describes them itself.
    const isOfKubernetes = (at: string): boolean => /^\.(networkPolicy\.clients|podTemplate\.spec\.)/.test(at);
    const own = silent.filter(([at]) => !isOfKubernetes(at));
    expect(own.map(([at]) => at)).to.deep.equal([]);
  });

  it("numbers itself, so that an operator knows an older one", () => {
    expect(definition.metadata.annotations["quoin.dev/schema-version"]).to.match(/^[1-9][0-9]*$/);
  });

  it("bounds everything of the specification, so that the rules stay cheap", () => {
    const unbounded = [...nodes(schema.properties?.spec ?? {}, "spec")].filter(([, node]) => {
      const bounds = {
        array: node.maxItems,
        string: node.maxLength ?? node.enum,
        object: node.additionalProperties === undefined ? 1 : node.maxProperties,
        integer: node.minimum ?? node.enum,
        number: node.minimum ?? node.enum,
        boolean: 1,
      };
      return node.type !== undefined && bounds[node.type] === undefined;
    });
    expect(unbounded.map(([at]) => at)).to.deep.equal([]);
  });

  it("names in the default of an object each field that its rules read without `has`", () => {
    for (const [at, node] of nodes(schema, "")) {
      for (const { rule } of node.default === undefined ? [] : (node["x-kubernetes-validations"] ?? [])) {
        const asked = new Set([...rule.matchAll(/has\(self\.(\w+)\)/g)].map(([, name = ""]) => name));
        const read = [...rule.matchAll(/\bself\.(\w+)/g)]
          .map(([, name = ""]) => name)
          .filter((name) => !asked.has(name));
        expect(node.default, `${at}: ${rule}`).to.include.keys(...read, ...Object.keys(node.default as object));
      }
    }
  });

  it("has a message for each rule, which names the field", () => {
    for (const [at, node] of nodes(schema, "")) {
      for (const { message, fieldPath = "" } of node["x-kubernetes-validations"] ?? []) {
        expect(message).to.contain(`${at}${fieldPath}`.slice(1) || "metadata.name");
      }
    }
  });

  it("makes the smallest object whole", () => {
    const { problems, object } = admit({ replicas: 3 });
    expect(problems).to.deep.equal([]);
    expect(object.spec).to.deep.equal({
      replicas: 3,
      image: { pullPolicy: "IfNotPresent" },
      storage: { size: "8Gi", whenDeleted: "Retain", whenScaled: "Delete" },
      resources: { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "2Gi" } },
      scheduling: { spread: "Preferred" },
      security: { userIds: "Fixed" },
      tls: { mode: "Auto", certificateDays: 90, renewBeforeDays: 30 },
      access: { ownerEmail: "owner@quoin.local" },
      settings: {},
      services: { client: { type: "ClusterIP" }, leader: { enabled: true, type: "ClusterIP" } },
      podDisruptionBudget: { enabled: true },
      networkPolicy: { enabled: false },
      monitoring: { podMonitor: { enabled: false }, rules: { enabled: false } },
      update: { mode: "Automatic", soakSeconds: 5, startupBudgetSeconds: 600 },
    });
    expect(admit({}).object.spec).to.deep.equal(object.spec);
  });

  it("adds defaults to the fields that a user sets", () => {
    const { object } = admit({ storage: { size: "20Gi" }, tls: PRODUCTION.tls });
    expect(object.spec.storage).to.deep.equal({ size: "20Gi", whenDeleted: "Retain", whenScaled: "Delete" });
    expect(object.spec.tls).to.deep.equal({
      mode: "CertManager",
      certificateDays: 90,
      renewBeforeDays: 30,
      issuerRef: { name: "internal", kind: "ClusterIssuer", group: "cert-manager.io" },
      extraDnsNames: ["quoin.example.com"],
    });
  });

  for (const { what, spec, from, status } of ACCEPTED) {
    it(`accepts ${what}`, () => {
      expect(refusals(spec, from, undefined, status)).to.deep.equal([]);
    });
  }

  for (const { what, field, message = field, spec, from, status } of REFUSED) {
    it(`refuses ${what}`, () => {
      const found = refusals(spec, from, undefined, status);
      expect(found.length, found.join("\n")).to.be.greaterThan(0);
      expect(found.join("\n")).to.contain(field).and.to.contain(message);
    });
  }

  for (const { names, message } of NAMES.refused) {
    it(`refuses names, because ${message} …`, () => {
      for (const name of names) {
        expect(refusals({}, undefined, name).join(), name).to.contain(message);
      }
    });
  }

  describe("refuses in the overlay of the pods all that the operator renders for a member", () => {
    const settings = { operatorNamespace: "quoin-system", clusterDomain: "cluster.local", manualUrl: "" };
    const objects = render(clusterOf(), { replicas: 3, minAvailable: null }, settings);
    const { spec } = (objects.find(({ kind }) => kind === "StatefulSet") as V1StatefulSet).spec?.template ?? {};
    const [container] = spec?.containers ?? [];
    const ofPod = (overlay: object): string => refusals({ podTemplate: { spec: overlay } }).join();
    const ofMember = (overlay: object): string => ofPod({ containers: [{ name: container?.name, ...overlay }] });
    const podFields = ["serviceAccountName", "restartPolicy", "automountServiceAccountToken"] as const;
    const memberFields = ["image", "command", "args", "startupProbe", "livenessProbe", "readinessProbe"] as const;

    for (const field of podFields) {
      it(field, () => {
        expect(ofPod({ [field]: spec?.[field] })).to.contain(`spec.podTemplate.spec.${field} belongs`);
      });
    }

    for (const field of memberFields) {
      it(`${field} of the container`, () => {
        expect(ofMember({ [field]: container?.[field] })).to.contain(`containers[].${field} of`);
      });
    }

    it("its ports, also on other containers", () => {
      const numbers = container?.ports?.map(({ containerPort }) => containerPort) ?? [];
      expect(numbers).to.have.length(5);
      for (const containerPort of numbers) {
        const ports = [{ containerPort }];
        expect(ofMember({ ports })).to.contain("containers[].ports");
        expect(ofPod({ containers: [{ name: "other", ports }] }), String(containerPort)).to.contain("[].ports");
      }
    });

    it("its volumes, and that of its data", () => {
      for (const { name } of [...(spec?.volumes ?? []), { name: "data" }]) {
        expect(ofPod({ volumes: [{ name, emptyDir: {} }] }), name).to.contain("volumes[].name");
      }
    });

    it("its mounts", () => {
      for (const { mountPath } of container?.volumeMounts ?? []) {
        expect(ofMember({ volumeMounts: [{ name: "x", mountPath }] }), mountPath).to.contain("[].volumeMounts");
      }
    });

    it("its environment; the options of Node only with a memory limit, by which it sets them", () => {
      const names = container?.env?.map(({ name }) => name) ?? [];
      expect(names).to.have.lengthOf.at.least(5).and.to.include("NODE_OPTIONS");
      for (const name of names) {
        expect(ofMember({ env: [{ name, value: "x" }] }), name).to.contain("containers[].env of");
      }
      const containers = [{ name: container?.name, env: [{ name: "NODE_OPTIONS", value: "--trace-gc" }] }];
      const unlimited = { resources: { limits: {} }, podTemplate: { spec: { containers } } };
      expect(refusals(unlimited)).to.deep.equal([]);
    });

    it("less memory than it needs", () => {
      const limit = (memory: string): object => ({ resources: { limits: { memory } } });
      expect(ofMember(limit("1Gi"))).to.equal("");
      expect(ofMember(limit("1023Mi"))).to.contain(
        "[].resources.limits.memory of the container quoin must be at least",
      );
      expect(ofPod({ containers: [{ name: "other", ...limit("64Mi") }] })).to.equal("");
    });

    it("less time to end than it has", () => {
      const seconds = spec?.terminationGracePeriodSeconds ?? 0;
      const field = "terminationGracePeriodSeconds";
      expect(ofPod({ [field]: seconds })).to.equal("");
      expect(ofPod({ [field]: seconds - 1 })).to.contain(field);
    });
  });

  it("lets a size be reverted while no volume has begun to grow", () => {
    const grown = { ...admit({ storage: { size: "1Ti" } }).object, status: { volumeSize: "8Gi" } };
    const refusalsOfSize = (size: string, old: object): string[] =>
      refusalsOf(schema, { ...old, ...admit({ storage: { size } }).object }, old);
    expect(refusalsOfSize("8192Mi", grown)).to.deep.equal([]);
    expect(refusalsOfSize("7Gi", grown).join()).to.contain("spec.storage.size may only grow");
    expect(refusalsOfSize("8Gi", { ...grown, status: {} }).join()).to.contain("spec.storage.size may only grow");
  });

  it("lets the storage class change until a volume is bound, and then only to that of the volumes", () => {
    const [typo, fast] = ["fsat", "fast"].map((storageClassName) => ({ storage: { storageClassName } }));
    const isTaken = (from: object, to: object, status: object): boolean =>
      refusalsOf(schema, admit(to).object, { ...admit(from).object, status }).length === 0;
    for (const from of [typo, {}] as object[]) {
      expect(isTaken(from, fast as object, { volumesBound: false })).to.equal(true);
      expect(isTaken(from, fast as object, { volumesBound: true, storageClassName: "fast" })).to.equal(true);
      expect(isTaken(from, fast as object, { volumesBound: true, storageClassName: "slow" })).to.equal(false);
      expect(isTaken(from, fast as object, { volumesBound: true }), "volumes of no class").to.equal(false);
      expect(isTaken(from, fast as object, {}), "an operator that does not say").to.equal(false);
    }
    expect(isTaken(fast as object, {}, { volumesBound: true }), "volumes of no class").to.equal(true);
    expect(isTaken(fast as object, {}, { volumesBound: true, storageClassName: "fast" })).to.equal(false);
  });

  it("accepts other names", () => {
    for (const name of NAMES.accepted) {
      expect(refusals({}, undefined, name), name).to.deep.equal([]);
    }
  });
});
