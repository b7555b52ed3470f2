import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect } from "chai";
import { parse } from "yaml";
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

/** A whole object of this specification, and what the API server would add. */
function admit(spec: object, name = "demo"): { problems: string[]; object: { spec: Record<string, unknown> } } {
  const object = {
    apiVersion: "quoin.dev/v1alpha1",
    kind: "CoordinationCluster",
    metadata: { name },
    spec: structuredClone(spec) as Record<string, unknown>,
  };
  fillIn(object);
  const problems = (fillIn.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
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

const PRODUCTION = {
  replicas: 5,
  version: "1.4.0",
  image: { repository: "registry.example/quoin", pullSecrets: [{ name: "registry" }] },
  storage: { size: "50Gi", storageClassName: "fast", whenDeleted: "Retain", whenScaled: "Delete" },
  resources: { requests: { cpu: "1", memory: "2Gi" }, limits: { memory: "4Gi" } },
  scheduling: { spread: "Required" },
  podTemplate: {
    metadata: { annotations: { team: "platform" } },
    spec: { priorityClassName: "high", tolerations: [{ key: "coordination", operator: "Exists" }] },
  },
  tls: {
    mode: "CertManager",
    issuerRef: { name: "internal", kind: "ClusterIssuer" },
    extraDnsNames: ["quoin.example.com"],
  },
  access: { ownerSecretRef: { name: "prod-admin" } },
  settings: {
    duplicateWindowSeconds: 3600,
    rateLimits: { grpc: { requests: 60_000, windowSeconds: 60, burst: 2000 } },
  },
  services: { client: { type: "LoadBalancer", annotations: { "example.com/internal": "true" } } },
  networkPolicy: { enabled: true, clients: [{ namespaceSelector: {} }] },
  monitoring: { podMonitor: { enabled: true, interval: "15s" }, rules: { enabled: true } },
};

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

  const good: readonly (readonly [what: string, spec: object, from?: object])[] = [
    ["the smallest object", { replicas: 3 }],
    ["an object of production", PRODUCTION],
    ["the same again", PRODUCTION, PRODUCTION],
    ["each number of members", { replicas: 7 }, { replicas: 1 }],
    ["the next minor version", { version: "1.5.2" }, { version: "1.4.0" }],
    ["the minor version before", { version: "1.3.0" }, { version: "1.4.0" }],
    ["a first version", { version: "3.0.0-rc.1" }, {}],
    ["a larger volume", { storage: { size: "0.5Ti" } }, { storage: { size: "511Gi" } }],
    ["the same size in other words", { storage: { size: "8192Mi" } }, {}],
    ["another mode of certificates", { tls: { mode: "Secret", secretName: "mine" } }, {}],
    ["resources as numbers", { resources: { limits: { cpu: 2, memory: "1.5Gi" } } }],
  ];
  for (const [what, spec, from] of good) {
    it(`accepts ${what}`, () => {
      expect(refusals(spec, from)).to.deep.equal([]);
    });
  }

  const bad: readonly (readonly [what: string, message: string, spec: object, from?: object])[] = [
    ["two members", "/spec/replicas", { replicas: 2 }],
    ["four members", "/spec/replicas", { replicas: 4 }],
    ["a version with a letter before it", "/spec/version", { version: "v1.4.0" }],
    ["a version of two parts", "/spec/version", { version: "1.4" }],
    ["a version that cannot be a tag", "/spec/version", { version: "1.4.0+build" }],
    ["a digest of another kind", "/spec/image/digest", { image: { digest: "md5:0" } }],
    ["nine pull secrets", "/spec/image/pullSecrets", { image: { pullSecrets: Array(9).fill({ name: "a" }) } }],
    ["another way of pulling", "/spec/image/pullPolicy", { image: { pullPolicy: "Sometimes" } }],
    ["another end of volumes", "/spec/storage/whenDeleted", { storage: { whenDeleted: "Recycle" } }],
    ["a limit that is no quantity", "/spec/resources/limits/memory", { resources: { limits: { memory: "much" } } }],
    ["an issuer without a name", "/spec/tls/issuerRef", { tls: { mode: "CertManager", issuerRef: {} } }],
    ["an owner without an e-mail address", "/spec/access/ownerEmail", { access: { ownerEmail: "root" } }],
    ["a window of no length", "windowSeconds", { settings: { rateLimits: { http: { windowSeconds: 0 } } } }],
    ["a token that lasts for ever", "/spec/settings/tokenSeconds", { settings: { tokenSeconds: 0 } }],
    ["a soak that goes back in time", "/spec/update/soakSeconds", { update: { soakSeconds: -1 } }],
    ["a Service of another type", "/spec/services/client/type", { services: { client: { type: "ExternalName" } } }],
    ["an interval without a unit", "interval", { monitoring: { podMonitor: { interval: "15" } } }],
    ["an unknown field", "/spec must NOT have additional", { replica: 3 }],
    ["V1: two minor versions at once", "spec.version may move", { version: "1.6.0" }, { version: "1.4.0" }],
    ["V1: two minor versions back", "spec.version may move", { version: "1.2.9" }, { version: "1.4.0" }],
    ["V1: another major version", "spec.version may move", { version: "2.4.0" }, { version: "1.4.0" }],
    ["S1: a volume below 4Gi", "spec.storage.size must be", { storage: { size: "4095Mi" } }],
    ["S1: a size that is none", "spec.storage.size must be", { storage: { size: "big" } }],
    ["S2: a smaller volume", "spec.storage.size may only", { storage: { size: "8Gi" } }, { storage: { size: "9Gi" } }],
    ["S3: a first storage class", "storageClassName cannot", { storage: { storageClassName: "fast" } }, {}],
    ["S3: no storage class any more", "storageClassName cannot", {}, { storage: { storageClassName: "fast" } }],
    [
      "S3: another storage class",
      "spec.storage.storageClassName cannot",
      { storage: { storageClassName: "slow" } },
      { storage: { storageClassName: "fast" } },
    ],
    ["T1: CertManager without an issuer", "spec.tls.issuerRef must", { tls: { mode: "CertManager" } }],
    ["T1: an issuer for nothing", "spec.tls.issuerRef must", { tls: { issuerRef: { name: "internal" } } }],
    ["T2: Secret without a name", "spec.tls.secretName must", { tls: { mode: "Secret" } }],
    ["T2: a secret for nothing", "spec.tls.secretName must", { tls: { mode: "Off", secretName: "mine" } }],
    ["T3: plain text from now on", "spec.tls.mode cannot", { tls: { mode: "Off" } }, {}],
    ["T3: certificates from now on", "spec.tls.mode cannot", {}, { tls: { mode: "Off" } }],
    ["T4: renewal before the beginning", "spec.tls.renewBeforeDays must", { tls: { certificateDays: 30 } }],
    [
      "L1: a label of ours",
      "metadata.labels must",
      { podTemplate: { metadata: { labels: { "quoin.dev/role": "leader" } } } },
    ],
    [
      "L1: a common label that selects",
      "metadata.labels must",
      { podTemplate: { metadata: { labels: { "app.kubernetes.io/instance": "other" } } } },
    ],
    [
      "L1: an annotation of ours",
      "metadata.annotations must",
      { podTemplate: { metadata: { annotations: { "quoin.dev/term": "1" } } } },
    ],
  ];
  for (const [what, message, spec, from] of bad) {
    it(`refuses ${what}`, () => {
      const found = refusals(spec, from);
      expect(found.length, found.join("\n")).to.be.greaterThan(0);
      expect(found.join("\n")).to.contain(message);
    });
  }

  it("N1: refuses names of which no name of a Service can be made", () => {
    for (const name of ["1st", "a-", "A", "a.b", "a".repeat(41)]) {
      expect(refusals({}, undefined, name).join(), name).to.contain("metadata.name must be 1 to 40");
    }
    for (const name of ["a", "a-1", "a".repeat(40)]) {
      expect(refusals({}, undefined, name), name).to.deep.equal([]);
    }
  });

  it("N2: refuses names that a cluster's objects have", () => {
    for (const ending of ["-peers", "-leader", "-identity", "-ca", "-tokens", "-owner", "-server-tls"]) {
      expect(refusals({}, undefined, `demo${ending}`).join(), ending).to.contain("metadata.name must not end");
    }
    expect(refusals({}, undefined, "peers")).to.deep.equal([]);
  });
});
