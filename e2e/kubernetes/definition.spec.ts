/**
 * The definition in a real API server: which CoordinationClusters it admits and refuses, with messages that name the
 * field, and how kubectl explains them. The documents show these messages, and are compared with them.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ACCEPTED, NAMES, REFUSED } from "../../crds/requests/index.ts";
import { type KubeObject, Refusal } from "./kubernetes-api.ts";
import { LIMIT_MS } from "./quoin-cluster.ts";
import { report, Scene } from "./scene.ts";

const DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coordinationclusters.quoin.dev";
const DOCUMENT = readFileSync(join(import.meta.dirname, "../../docs/kubectl.md"), "utf8");
/** Dry runs, in which unknown fields are an error, as for kubectl. */
const TRY_OUT = "dryRun=All&fieldValidation=Strict";
/** The API server adds this if it has not evaluated all rules. */
const NOT_A_CAUSE = "some validation rules were not checked";
const EXPLAINED = ["coordinationclusters.spec", "qc.spec.storage", "qc.spec.tls.issuerRef", "qc.status.blocked"];

describe("The definition in an API server", function () {
  this.timeout(LIMIT_MS);
  let scene: Scene;
  /** All messages so far. */
  const said: string[] = [];

  before(async () => {
    scene = await Scene.set("quoin-e2e-definition");
    // The requests are dry runs.
    await scene.removeOperator();
  });

  after(() => scene?.clear());

  for (const { what, spec, from, status } of ACCEPTED) {
    it(`takes ${what}`, async () => {
      const accepted = await request(spec, from, undefined, status);
      expect(accepted.spec).to.include.keys("replicas", "storage", "tls");
    });
  }

  for (const { what, field, message = field, spec, from, status } of REFUSED) {
    it(`refuses ${what}, and names ${field}`, async () => {
      const causes = await refusal(() => request(spec, from, undefined, status));
      expect(causes.join("\n")).to.contain(field).and.to.contain(message);
      expectShown(what, causes);
    });
  }

  for (const { names, message } of NAMES.refused) {
    it(`refuses names, because ${message} …`, async () => {
      for (const name of names) {
        const causes = await refusal(() => request({}, undefined, name));
        expect(causes.join("\n"), name).to.contain("metadata.name");
      }
      expect(said.join("\n")).to.contain(message);
      expectShown(`the name \`${names[0]}\``, await refusal(() => request({}, undefined, names[0])));
    });
  }

  it("takes other names", async () => {
    for (const name of NAMES.accepted) {
      expect((await request({}, undefined, name)).metadata.name).to.equal(name);
    }
  });

  it("refuses kubectl scale to 2, and the number stays", async () => {
    const { cluster, kubernetes } = scene;
    await existing({ replicas: 3 });
    const scale = ["scale", `qc/${cluster.name}`, "--replicas=2", "--namespace", cluster.namespace];
    const error = await kubernetes.cluster.kubectl(scale).then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error?.message).to.contain('spec.replicas: Unsupported value: 2: supported values: "1", "3", "5", "7"');
    expect((await cluster.get()).spec.replicas).to.equal(3);
  });

  it("has returned the message of each of its rules", async () => {
    const definition = await scene.kubernetes.get(DEFINITION);
    const messages = messagesOf(definition.spec.versions[0].schema.openAPIV3Schema);
    report(`${messages.length} rules, ${REFUSED.length} requests refused`);
    expect(messages.filter((message) => !said.some((cause) => cause.endsWith(message)))).to.deep.equal([]);
  });

  for (const path of EXPLAINED) {
    it(`explains ${path} as the documents show it`, async function () {
      if (scene.kubernetes.cluster.faults === null) {
        // Other versions of kubectl have another format.
        this.skip();
      }
      const explained = await scene.kubernetes.cluster.kubectl(["explain", path]);
      const lines = explained.split("\n").map((line) => line.trimEnd());
      expectInDocument(DOCUMENT, `$ kubectl explain ${path}\n${lines.join("\n").trim()}\n`);
    });
  }

  /** The object that the API server would store. Rejects with a Refusal. */
  async function request(spec: object, from?: object, name = "asked-for", status?: object): Promise<KubeObject> {
    const { cluster, kubernetes } = scene;
    if (from === undefined) {
      return await kubernetes.send("POST", `${collection()}?${TRY_OUT}`, objectOf({ name }, spec));
    }
    const made = await existing(from);
    const told = status === undefined ? made : await kubernetes.send("PATCH", `${cluster.path}/status`, { status });
    const { resourceVersion } = told.metadata;
    const changed = objectOf({ name: cluster.name, resourceVersion }, spec);
    return await kubernetes.send("PUT", `${cluster.path}?${TRY_OUT}`, changed);
  }

  /** Creates a cluster in place of the existing one. */
  async function existing(spec: object): Promise<KubeObject> {
    const { cluster, kubernetes } = scene;
    if ((await cluster.get()) !== null) {
      await kubernetes.send("DELETE", cluster.path);
    }
    return await kubernetes.send("POST", collection(), objectOf({ name: cluster.name }, spec));
  }

  function collection(): string {
    return scene.cluster.path.slice(0, scene.cluster.path.lastIndexOf("/"));
  }

  /** The API server's complaints, one line for each cause. */
  async function refusal(ask: () => Promise<unknown>): Promise<readonly string[]> {
    try {
      await ask();
    } catch (error) {
      if (error instanceof Refusal) {
        const causes = causesOf(error.answer);
        said.push(...causes);
        return causes;
      }
      throw error;
    }
    throw new Error("it was taken");
  }
});

function objectOf(metadata: object, spec: object): object {
  return { apiVersion: "quoin.dev/v1alpha1", kind: "CoordinationCluster", metadata, spec };
}

function causesOf({ details, message }: KubeObject): string[] {
  const causes: KubeObject[] = (details?.causes ?? []).filter(
    ({ message }: KubeObject) => !message.includes(NOT_A_CAUSE),
  );
  return causes.length === 0 ? [message] : causes.map(({ field, message }) => `${field}: ${message}`);
}

/** The table in the documents has this request, with all messages about it. */
function expectShown(what: string, causes: readonly string[]): void {
  const cells = causes.map((cause) => `\`${cause.replaceAll("|", "\\|")}\``).join("<br>");
  // Columns are as wide as their widest cell.
  const table = DOCUMENT.replaceAll(/ +\|/g, " |").replaceAll(/\| +/g, "| ");
  expectInDocument(table, `| ${what} | ${cells} |`);
}

function expectInDocument(document: string, text: string): void {
  expect(document.includes(text), `docs/kubectl.md does not show what is said now:\n${text}`).to.equal(true);
}

function messagesOf(schema: KubeObject): string[] {
  const { properties = {}, items, additionalProperties, "x-kubernetes-validations": rules = [] } = schema;
  const below = [...Object.values(properties), items, additionalProperties].filter((node) => typeof node === "object");
  return [...rules.map(({ message }: KubeObject) => message), ...below.flatMap(messagesOf)];
}
