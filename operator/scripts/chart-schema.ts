/**
 * JSON Schema of the cluster chart's values: the specification from the definition, and the chart's own values. With
 * it, helm refuses by name what the API server would refuse or drop.
 */
import type { JSONSchema } from "json-schema-to-typescript";
import { type DefinitionSchema, toJsonSchema } from "./definition.ts";

const TEXT: JSONSchema = { type: "string" };
const FLAG: JSONSchema = { type: "boolean" };
const TEXTS: JSONSchema = { type: "object", additionalProperties: TEXT };
const ANY_OBJECT: JSONSchema = { type: "object" };
/** Same as the definition's rule for metadata.name; empty means the name of the release. */
const NAME_PATTERN = "^([a-z]([-a-z0-9]{0,38}[a-z0-9])?)?$";
const NAMED: JSONSchema = { ...objectOf({ name: { ...TEXT, minLength: 1 } }), required: ["name"] };

/** @returns the text of the chart's values.schema.json */
export function describeValues(definition: DefinitionSchema): string {
  const spec = definition.properties?.spec;
  if (spec === undefined) {
    throw new Error("the definition has no spec");
  }
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of quoin-cluster",
    description: "Generated from crds/quoin.dev_coordinationclusters.yaml by `npm run crds:generate`.",
    ...objectOf({
      global: ANY_OBJECT,
      name: { ...TEXT, pattern: NAME_PATTERN },
      annotations: TEXTS,
      cluster: toJsonSchema(spec),
      dashboard: objectOf({ enabled: FLAG, labels: TEXTS }),
      test: objectOf({
        enabled: FLAG,
        image: TEXT,
        imagePullSecrets: { type: "array", items: NAMED },
        labels: TEXTS,
        resources: objectOf({ requests: ANY_OBJECT, limits: ANY_OBJECT }),
        securityContext: ANY_OBJECT,
      }),
      extraObjects: { type: "array", items: { type: ["object", "string"] } },
    }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function objectOf(properties: Record<string, JSONSchema>): JSONSchema {
  return { type: "object", additionalProperties: false, properties };
}
