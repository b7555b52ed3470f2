/**
 * Reads the definitions of the operator's kinds and translates their OpenAPI schema into JSON Schema for standard
 * tools. Keeps defaults; leaves out CEL rules.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { JSONSchema } from "json-schema-to-typescript";
import { parse } from "yaml";

/** The part of Kubernetes' OpenAPI schema that the definitions use. */
export interface DefinitionSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "boolean";
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, DefinitionSchema>>;
  readonly additionalProperties?: DefinitionSchema;
  readonly items?: DefinitionSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-validations"?: readonly DefinitionRule[];
}

/** A CEL rule. A rule that mentions `oldSelf` applies only to updates. */
export interface DefinitionRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly reason?: string;
}

/** A column of `kubectl get`; with a priority above 0 it is shown only with `-o wide`. */
export interface DefinitionColumn {
  readonly name: string;
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: number;
}

export interface Definition {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly additionalPrinterColumns: readonly DefinitionColumn[];
      readonly schema: { readonly openAPIV3Schema: DefinitionSchema };
    }[];
  };
}

const FOLDER = path.resolve(import.meta.dirname, "../../crds");
const CLUSTERS = "coordinationclusters";
/** Plurals of all kinds, that of clusters first. */
export const PLURALS = [
  CLUSTERS,
  "coordinationbackupstores",
  "coordinationbackups",
  "coordinationbackupschedules",
] as const;
export type Plural = (typeof PLURALS)[number];

/** Metadata that the API server keeps; the definition itself only says `type: object`. */
const METADATA: JSONSchema = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string" },
    namespace: { type: "string" },
    uid: { type: "string" },
    resourceVersion: { type: "string" },
    generation: { type: "integer" },
    creationTimestamp: { type: "string", format: "date-time" },
    deletionTimestamp: { type: "string", format: "date-time" },
    annotations: { type: "object", additionalProperties: { type: "string" } },
    labels: { type: "object", additionalProperties: { type: "string" } },
  },
};

export function definitionFile(plural: Plural): string {
  return `quoin.dev_${plural}.yaml`;
}

/** The file's text, with comments. */
export function definitionText(plural: Plural): string {
  return readFileSync(path.join(FOLDER, definitionFile(plural)), "utf8");
}

/** @param plural that of clusters by default */
export function readDefinition(plural: Plural = CLUSTERS): Definition {
  return parse(definitionText(plural));
}

/** The schema of the only version. */
export function schemaOf(definition: Definition): DefinitionSchema {
  const [version, ...further] = definition.spec.versions;
  if (version === undefined || further.length > 0) {
    throw new Error("the definition must have exactly one version");
  }
  return version.schema.openAPIV3Schema;
}

/** JSON Schema of a whole object or a part. It refuses unknown fields, which Kubernetes drops. */
export function toJsonSchema(root: DefinitionSchema): JSONSchema {
  const converted = convert(root);
  const isWhole = converted.properties?.metadata !== undefined;
  return isWhole ? { ...converted, properties: { ...converted.properties, metadata: METADATA } } : converted;
}

function convert(schema: DefinitionSchema): JSONSchema {
  const kept = Object.entries(schema).filter(([key]) => !key.startsWith("x-kubernetes-") && key !== "anyOf");
  const converted: JSONSchema = Object.fromEntries(kept);
  if (schema["x-kubernetes-int-or-string"] === true) {
    const { pattern, maxLength, ...rest } = converted;
    return { ...rest, anyOf: [{ type: "integer" }, { type: "string", ...definedOf({ pattern, maxLength }) }] };
  }
  if (schema.properties !== undefined) {
    const properties = Object.entries(schema.properties).map(([name, child]) => [name, convert(child)]);
    converted.properties = Object.fromEntries(properties);
    converted.additionalProperties = false;
  }
  if (schema.additionalProperties !== undefined) {
    converted.additionalProperties = convert(schema.additionalProperties);
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) {
    converted.additionalProperties = true;
  }
  if (schema.items !== undefined) {
    converted.items = convert(schema.items);
  }
  return converted;
}

function definedOf(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
