/** Generates TypeScript types of the operator's kinds as the API server returns them: with every default filled in. */
import { compile, type JSONSchema } from "json-schema-to-typescript";
import { definitionFile, type Plural, readDefinition, schemaOf, toJsonSchema } from "./definition.ts";

type Names = ReadonlyMap<string, string>;

/** Type names for the parts that other code refers to, by their paths. */
const NAMES: Readonly<Record<Plural, Names>> = {
  coordinationclusters: new Map([
    ["/spec", "ClusterSpec"],
    ["/spec/services/client", "ClientServiceSpec"],
    ["/spec/services/leader", "LeaderServiceSpec"],
    ["/spec/settings", "SettingsSpec"],
    ["/spec/backup", "BackupSpec"],
    ["/spec/restoreFrom", "RestoreFromSpec"],
    ["/status", "ClusterStatus"],
    ["/status/backup", "BackupSummary"],
    ["/status/blocked", "BlockedStatus"],
    ["/status/conditions/*", "ConditionStatus"],
    ["/status/members/*", "MemberRow"],
  ]),
  coordinationbackupstores: new Map([
    ["/spec", "StoreSpec"],
    ["/status", "StoreStatus"],
    ["/status/conditions/*", "StoreCondition"],
  ]),
  coordinationbackups: new Map([
    ["/status", "BackupStatus"],
    ["/status/conditions/*", "BackupCondition"],
  ]),
  coordinationbackupschedules: new Map([
    ["/spec", "ScheduleSpec"],
    ["/status", "ScheduleStatus"],
    ["/status/conditions/*", "ScheduleCondition"],
  ]),
};

/** @returns the name of the generated file */
export function typesFile(plural: Plural): string {
  const { kind } = readDefinition(plural).spec.names;
  return `${kind.replaceAll(/\B[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}.ts`;
}

/** @returns the text of the generated file */
export async function describeTypes(plural: Plural): Promise<string> {
  const definition = readDefinition(plural);
  const { kind } = definition.spec.names;
  const parts = nameParts(toJsonSchema(schemaOf(definition)), "", NAMES[plural]);
  const named = requireAlways(parts, ["apiVersion", "kind", "metadata", "spec"]);
  return await compile(withDefaultsThere(named), kind, {
    additionalProperties: false,
    bannerComment: bannerOf(kind, definitionFile(plural)),
    ignoreMinAndMaxItems: true,
    strictIndexSignatures: false,
    style: { printWidth: 120 },
    unknownAny: true,
  });
}

function bannerOf(kind: string, file: string): string {
  return `/**
 * ${kind} as the API server returns it, with its defaults.
 *
 * Generated from crds/${file} by \`npm run crds:generate\`.
 */`;
}

/** Sets titles; the generator turns them into type names. */
function nameParts(schema: JSONSchema, at: string, names: Names): JSONSchema {
  if (schema.additionalProperties === true) {
    // Fields that only CEL rules read are no more reliable than the other fields of the object.
    const { properties: _properties, ...open } = schema;
    return open;
  }
  const name = names.get(at);
  const parts = name === undefined ? schema : { ...schema, title: name };
  return mapChildren(parts, (child, step) => nameParts(child, `${at}/${step}`, names));
}

/** The API server fills in fields that have a default, so they are required here. */
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
