/**
 * TypeScript types of CoordinationCluster as the API server returns it: fields that have a default are there.
 */
import { compile, type JSONSchema } from "json-schema-to-typescript";
import { type DefinitionSchema, toJsonSchema } from "./definition.ts";

/** The parts that other code names, by where they stand. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["/spec", "ClusterSpec"],
  ["/spec/services/client", "ClientServiceSpec"],
  ["/spec/services/leader", "LeaderServiceSpec"],
  ["/spec/settings", "SettingsSpec"],
  ["/status", "ClusterStatus"],
  ["/status/blocked", "BlockedStatus"],
  ["/status/conditions/*", "ConditionStatus"],
  ["/status/members/*", "MemberRow"],
]);
const BANNER = `/**
 * CoordinationCluster as the API server returns it, with its defaults.
 *
 * Generated from crds/quoin.dev_coordinationclusters.yaml by \`npm run crds:generate\`.
 */`;

/** @returns the text of the generated file */
export async function describeTypes(schema: DefinitionSchema): Promise<string> {
  const named = requireAlways(nameParts(toJsonSchema(schema), ""), ["apiVersion", "kind", "metadata", "spec"]);
  return await compile(withDefaultsThere(named), "CoordinationCluster", {
    additionalProperties: false,
    bannerComment: BANNER,
    ignoreMinAndMaxItems: true,
    strictIndexSignatures: false,
    style: { printWidth: 120 },
    unknownAny: true,
  });
}

/** Sets titles, which become names of types. */
function nameParts(schema: JSONSchema, at: string): JSONSchema {
  if (schema.additionalProperties === true) {
    // What a rule reads of it is no more certain than the rest.
    const { properties: _properties, ...open } = schema;
    return open;
  }
  const name = NAMES.get(at);
  const parts = name === undefined ? schema : { ...schema, title: name };
  return mapChildren(parts, (child, step) => nameParts(child, `${at}/${step}`));
}

/** What has a default, the API server fills in. */
function withDefaultsThere(schema: JSONSchema): JSONSchema {
  const filledIn = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    "default" in child ? [name] : [],
  );
  const { default: _default, ...rest } = requireAlways(schema, filledIn);
  return mapChildren(rest, withDefaultsThere);
}

function requireAlways(schema: JSONSchema, names: readonly string[]): JSONSchema {
  const required = new Set([...(Array.isArray(schema.required) ? schema.required : []), ...names]);
  return required.size === 0 ? schema : { ...schema, required: [...required] };
}

function mapChildren(schema: JSONSchema, map: (child: JSONSchema, step: string) => JSONSchema): JSONSchema {
  const { properties, items } = schema;
  const mapped = { ...schema };
  if (properties !== undefined) {
    const entries = Object.entries(properties).map(([name, child]) => [name, map(child, name)]);
    mapped.properties = Object.fromEntries(entries);
  }
  if (items !== undefined && !Array.isArray(items)) {
    mapped.items = map(items, "*");
  }
  return mapped;
}
