/**
 * Text of docs/reference.md and docs/backup-reference.md, generated from the definitions alone: every field with its
 * type, bounds and default, what the API server refuses, and the columns of `kubectl get`.
 */
import { markdownTable } from "../../scripts/generated/index.ts";
import type { Definition, DefinitionColumn, DefinitionRule, DefinitionSchema } from "./definition.ts";
import { schemaOf } from "./definition.ts";

const INTRODUCTION = `# CoordinationCluster

<!-- Generated from the definition by \`npm run docs:reference\`; \`npm run check\` fails if it is stale. -->

A CoordinationCluster describes the desired cluster in \`spec\`; the operator reports the observed one in \`status\`. The
[quick start](quick-start.md) begins with one. [Operations](operations/observe.md) explains conditions and reasons, and what to do about
them. \`kubectl explain qc.spec\` shows the same descriptions, field by field.
`;

const BACKUP_INTRODUCTION = `# Kinds of backups

<!-- Generated from the definitions by \`npm run docs:reference\`; \`npm run check\` fails if it is stale. -->

A CoordinationBackupStore is a place for backups. A CoordinationCluster names it in \`spec.backup\`. A CoordinationBackup is one
backup of a cluster, and a CoordinationBackupSchedule makes them. All objects are in the namespace of the cluster.
[Operations](operations/backups-on-kubernetes.md) says how to use them. A field that you leave out keeps its default.
`;

const EXAMPLE = `\`\`\`yaml
apiVersion: quoin.dev/v1alpha1
kind: CoordinationCluster
metadata:
  name: demo
spec:
  replicas: 3
\`\`\`
`;

interface Field {
  /** Path from `spec` or `status`, with dots; `[]` stands for each item of a list. */
  readonly path: string;
  readonly schema: DefinitionSchema;
  /** The default, also if the definition gives it at an enclosing object; undefined if there is none. */
  readonly preset: unknown;
  readonly isRequired: boolean;
}

interface RuleAt extends DefinitionRule {
  readonly path: string;
}

type Row = readonly string[];

export function describeReference(definition: Definition): string {
  const root = schemaOf(definition);
  const { names, group } = definition.spec;
  const version = definition.spec.versions[0];
  return [
    INTRODUCTION,
    `The kind is \`${names.kind}\` of \`${group}/${version?.name ?? ""}\`, and its resource \`${names.plural}.${group}\`, short`,
    `\`${names.shortNames.join("`, `")}\`, also found by the category \`${names.categories.join("`, `")}\`. Only \`spec\` is required, and it may be empty:\n`,
    EXAMPLE,
    "## Specification\n",
    "A field that you leave out keeps its default. `.` leads into an object, `[]` to each item of a list.\n",
    specTable(root),
    "## What is refused\n",
    "The API server refuses values of the wrong type and, with the messages below, values that break a rule:\n",
    ruleTable(root),
    "## Status\n",
    statusTable(root),
    "## Columns of `kubectl get qc`\n",
    "Columns marked _wide_ are shown with `-o wide`.\n",
    columnTable(definition),
  ].join("\n");
}

/** @param definitions those of the backup kinds */
export function describeBackupReference(definitions: readonly Definition[]): string {
  return [BACKUP_INTRODUCTION, ...definitions.flatMap(kindSections)].join("\n");
}

function kindSections(definition: Definition): string[] {
  const root = schemaOf(definition);
  const { names, group } = definition.spec;
  const [short = ""] = names.shortNames;
  const version = definition.spec.versions[0]?.name ?? "";
  return [
    `## ${names.kind}\n`,
    `${root.description ?? ""} The resource is \`${names.plural}.${group}\` in version \`${version}\`, short \`${short}\`.\n`,
    specTable(root),
    "The API server refuses values of the wrong type and, with the messages below, values that break a rule:\n",
    ruleTable(root),
    "The operator writes these fields:\n",
    statusTable(root),
    `\`kubectl get ${short}\` shows these columns, and those marked _wide_ with \`-o wide\`:\n`,
    columnTable(definition),
  ];
}

function specTable(root: DefinitionSchema): string {
  return markdownTable(["Field", "Type", "Default", "Meaning"], sectionOf(root, "spec").map(specRow));
}

function ruleTable(root: DefinitionSchema): string {
  return markdownTable(
    ["At", "When", "Message"],
    rulesOf(root, "").map(({ path, rule, message }) => [
      `\`${path}\``,
      rule.includes("oldSelf") ? "change" : "always",
      message,
    ]),
  );
}

function statusTable(root: DefinitionSchema): string {
  return markdownTable(
    ["Field", "Type", "Meaning"],
    sectionOf(root, "status").map(({ path, schema }) => [`\`${path}\``, typeOf(schema), meaningOf(schema)]),
  );
}

function columnTable(definition: Definition): string {
  const columns = definition.spec.versions[0]?.additionalPrinterColumns ?? [];
  return markdownTable(["Column", "From", "Meaning"], columns.map(columnRow));
}

function sectionOf(root: DefinitionSchema, name: "spec" | "status"): Field[] {
  const section = root.properties?.[name] ?? {};
  return fieldsBelow(name, section, section.default);
}

/**
 * Lists each object before its fields. The fields of Kubernetes' own kinds are not listed, nor are objects that have
 * fields but no description.
 */
function fieldsBelow(at: string, schema: DefinitionSchema, preset: unknown): Field[] {
  const own = schema["x-kubernetes-preserve-unknown-fields"] === true ? {} : (schema.properties ?? {});
  return Object.entries(own).flatMap(([name, child]) => {
    const path = `${at}.${name}`;
    const childPreset = child.default ?? (isRecord(preset) ? preset[name] : undefined);
    const isRequired = schema.required?.includes(name) === true;
    const self: Field = { path, schema: child, preset: childPreset, isRequired };
    const below = child.items === undefined ? fieldsBelow(path, child, childPreset) : fieldsOfItems(path, child.items);
    return child.properties !== undefined && child.description === undefined ? below : [self, ...below];
  });
}

/** Fields of list items are listed unless the items have a description, as Kubernetes' own kinds do. */
function fieldsOfItems(path: string, items: DefinitionSchema): Field[] {
  return items.description === undefined ? fieldsBelow(`${path}[]`, items, undefined) : [];
}

/** The default of an object is shown at its fields. */
function specRow({ path, schema, preset, isRequired }: Field): Row {
  const shown = preset === undefined || schema.properties !== undefined ? "" : `\`${textOf(preset)}\``;
  return [`\`${path}\``, typeOf(schema), isRequired ? "required" : shown, meaningOf(schema)];
}

function meaningOf({ description = "", items }: DefinitionSchema): string {
  return items?.description === undefined ? description : `${description} Each is: ${items.description}`;
}

function typeOf(schema: DefinitionSchema): string {
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  }
  if (schema["x-kubernetes-int-or-string"] === true) {
    return "quantity";
  }
  const { items, additionalProperties } = schema;
  if (items !== undefined) {
    const kind = items.properties === undefined ? `${items.type ?? "value"}s` : "objects";
    return `list of ${schema.maxItems === undefined ? "" : `at most ${schema.maxItems} `}${kind}`;
  }
  if (additionalProperties !== undefined) {
    const kind = additionalProperties["x-kubernetes-int-or-string"] === true ? "quantities" : "strings";
    return `map of ${schema.maxProperties === undefined ? "" : `at most ${schema.maxProperties} `}${kind}`;
  }
  return `${schema.format === "date-time" ? "time" : (schema.type ?? "value")}${boundsOf(schema)}`;
}

function boundsOf({ minimum, maximum, maxLength }: DefinitionSchema): string {
  if (minimum !== undefined && maximum !== undefined) {
    return `, ${countOf(minimum)} to ${countOf(maximum)}`;
  }
  return maxLength === undefined ? "" : `, at most ${countOf(maxLength)} characters`;
}

function countOf(value: number): string {
  return value.toLocaleString("en-US");
}

/** Rules with their paths; those of an object come before those of its fields. */
function rulesOf(schema: DefinitionSchema, at: string): RuleAt[] {
  const own = (schema["x-kubernetes-validations"] ?? []).map((rule) => ({
    ...rule,
    path: at === "" ? "metadata.name" : `${at}${rule.fieldPath ?? ""}`,
  }));
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    rulesOf(child, at === "" ? name : `${at}.${name}`),
  );
  const ofItems = schema.items === undefined ? [] : rulesOf(schema.items, `${at}[]`);
  return [...own, ...below, ...ofItems];
}

function columnRow({ name, jsonPath, description = "", priority = 0 }: DefinitionColumn): Row {
  return [priority > 0 ? `${name} (_wide_)` : name, `\`${jsonPath}\``, description];
}

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
