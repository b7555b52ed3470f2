import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect } from "chai";
import { parse } from "yaml";
import { ACCEPTED, NAMES, PRODUCTION, REFUSED } from "../../crds/requests/index.ts";
import { type DefinitionSchema, readDefinition, schemaOf, toJsonSchema } from "./definition.ts";
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

/** The field that is wrong, too much or missing, as Kubernetes writes it. */
function fieldOf(
  path: string,
  { additionalProperty, missingProperty }: { additionalProperty?: string; missingProperty?: string },
): string {
  return [...path.slice(1).split("/"), additionalProperty ?? missingProperty ?? []].flat().join(".");
}

/** A whole object of this specification, and what the API server would add. */
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

/** As `admit`, with the rules, which are only looked at when the schema is content. */
function refusals(spec: object, from?: object, name?: string): string[] {
  const { problems, object } = admit(spec, name);
  const old = from === undefined ? undefined : admit(from, name).object;
  return problems.length > 0 ? problems : refusalsOf(schema, object, old);
}

/** All nodes of a schema, with where they stand. */
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
    expect(readFileSync(file, "utf8")).to.equal(await describeTypes(schema));
  });

  it("takes what the documents show, and describes each of its fields", () => {
    const documents = new URL("../../docs/", import.meta.url);
    const shown = readdirSync(documents)
      .flatMap((name) => [...readFileSync(new URL(name, documents), "utf8").matchAll(/^```yaml\n([\s\S]*?)^```/gm)])
      .map(([, text = ""]) => parse(text) as { kind?: string; metadata: { name: string }; spec: object })
      .filter(({ kind }) => kind === "CoordinationCluster");
    expect(shown).to.have.lengthOf.at.least(2);
    for (const { metadata, spec } of shown) {
      expect(refusals(spec, undefined, metadata.name), metadata.name).to.deep.equal([]);
    }
    const parts = [schema.properties?.spec, schema.properties?.status].flatMap((part) => [...nodes(part ?? {}, "")]);
    const silent = parts.filter(([at, { description }]) => /\w$/.test(at) && description === undefined);
    const own = silent.filter(([at]) => !at.startsWith(".networkPolicy.clients"));
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
        boolean: 1,
      };
      return node.type !== undefined && bounds[node.type] === undefined;
    });
    expect(unbounded.map(([at]) => at)).to.deep.equal([]);
  });

  it("names in the default of an object what its rules read without asking whether it is there", () => {
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
        expect(message).to.contain(at === "" ? "metadata.name" : `${at.slice(1)}${fieldPath}`);
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

  it("fills in what is missing beside what a user says", () => {
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

  for (const { what, spec, from } of ACCEPTED) {
    it(`accepts ${what}`, () => {
      expect(refusals(spec, from)).to.deep.equal([]);
    });
  }

  for (const { what, field, message = field, spec, from } of REFUSED) {
    it(`refuses ${what}`, () => {
      const found = refusals(spec, from);
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

  it("accepts other names", () => {
    for (const name of NAMES.accepted) {
      expect(refusals({}, undefined, name), name).to.deep.equal([]);
    }
  });
});
