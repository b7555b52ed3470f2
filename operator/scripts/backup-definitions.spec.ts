/** Specs of the backup definitions: generated types, rules, and sample objects that they admit or refuse. */
import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { expect } from "chai";
import { ACCEPTED_BACKUPS, type BackupRequest, REFUSED_BACKUPS } from "../../crds/requests/index.ts";
import { type DefinitionSchema, PLURALS, type Plural, readDefinition, schemaOf, toJsonSchema } from "./definition.ts";
import { findDocumentExamples } from "./document-examples.ts";
import { refusalsOf } from "./rules.ts";
import { describeTypes, typesFile } from "./types.ts";

const KINDS = PLURALS.filter((plural) => plural !== "coordinationclusters");
const validators = new Map<Plural, ValidateFunction>();

function validatorOf(plural: Plural): ValidateFunction {
  const known = validators.get(plural);
  if (known !== undefined) {
    return known;
  }
  const ajv = new Ajv({ useDefaults: true, allErrors: true, strictTypes: false, validateFormats: false });
  const made = ajv.compile({ ...toJsonSchema(schemaOf(readDefinition(plural))) } as Record<string, unknown>);
  validators.set(plural, made);
  return made;
}

function admit({ plural, name = "demo" }: BackupRequest, spec: object): { problems: string[]; object: object } {
  const { kind } = readDefinition(plural).spec.names;
  const object = { apiVersion: "quoin.dev/v1alpha1", kind, metadata: { name }, spec: structuredClone(spec) };
  const validate = validatorOf(plural);
  validate(object);
  const problems = (validate.errors ?? []).map(({ instancePath, params, message }) => {
    const field = params.additionalProperty ?? params.missingProperty;
    return `${[...instancePath.slice(1).split("/"), ...(field === undefined ? [] : [field])].join(".")} ${message}`;
  });
  return { problems, object };
}

/** As the API server does, which evaluates rules only if the object fits the schema. */
function refusals(request: BackupRequest): string[] {
  const { problems, object } = admit(request, request.spec);
  const old = request.from === undefined ? undefined : admit(request, request.from).object;
  return problems.length > 0 ? problems : refusalsOf(schemaOf(readDefinition(request.plural)), object, old);
}

function* nodes(node: DefinitionSchema, at: string): Generator<[string, DefinitionSchema]> {
  yield [at, node];
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    yield* nodes(child, at === "" ? name : `${at}.${name}`);
  }
  if (node.items !== undefined) {
    yield* nodes(node.items, `${at}[]`);
  }
}

describe("definitions of the kinds for backups", () => {
  for (const plural of KINDS) {
    const schema = schemaOf(readDefinition(plural));
    const parts = [...nodes(schema, "")].filter(([at]) => /^(spec|status)\b/.test(at));

    it(`${plural} fits its generated types`, async () => {
      const file = new URL(`../src/generated/${typesFile(plural)}`, import.meta.url);
      expect(readFileSync(file, "utf8")).to.equal(await describeTypes(plural));
    });

    it(`${plural} describes each field, and bounds what users write`, () => {
      expect(parts.filter(([at, { description }]) => /\w$/.test(at) && description === undefined)).to.deep.equal([]);
      const unbounded = parts.filter(([at, node]) => {
        const bounds = {
          array: node.maxItems,
          string: node.maxLength ?? node.enum,
          object: 1,
          integer: node.minimum ?? node.enum,
          boolean: 1,
        };
        return at.startsWith("spec") && node.type !== undefined && bounds[node.type] === undefined;
      });
      expect(unbounded.map(([at]) => at)).to.deep.equal([]);
    });

    it(`${plural} has a message for each rule, which names the field`, () => {
      for (const [at, node] of nodes(schema, "")) {
        for (const { message, fieldPath = "" } of node["x-kubernetes-validations"] ?? []) {
          expect(message).to.contain(`${at}${fieldPath}` || "metadata.name");
        }
      }
    });

    it(`${plural} has a request for each rule that it refuses`, () => {
      const messages = [...nodes(schema, "")].flatMap(([, node]) =>
        (node["x-kubernetes-validations"] ?? []).map(({ message }) => message),
      );
      const met = REFUSED_BACKUPS.filter((request) => request.plural === plural).flatMap(refusals);
      expect(messages.filter((message) => !met.includes(message))).to.deep.equal([]);
    });
  }

  it("admit the examples in the documents", () => {
    const plurals = new Map<string, BackupRequest["plural"]>(
      KINDS.map((plural) => [readDefinition(plural).spec.names.kind, plural]),
    );
    const shown = findDocumentExamples().flatMap(({ document, kind, name, spec }) => {
      const plural = plurals.get(kind);
      return plural === undefined ? [] : [{ what: `${kind} in ${document}`, kind, plural, spec, name }];
    });
    expect(new Set(shown.map(({ kind }) => kind))).to.have.all.keys(...plurals.keys());
    for (const example of shown) {
      expect(refusals(example), example.what).to.deep.equal([]);
    }
  });

  for (const request of ACCEPTED_BACKUPS) {
    it(`accept ${request.what}`, () => {
      expect(refusals(request)).to.deep.equal([]);
    });
  }

  for (const request of REFUSED_BACKUPS) {
    it(`refuse ${request.what}`, () => {
      expect(refusals(request).join("\n")).to.contain(request.message);
    });
  }
});
