/**
 * The texts of docs/reference.md and docs/backup-reference.md: every field of the operator's kinds with its type, bounds and
 * default, what the API server refuses, and what `kubectl get` shows, made of the definitions alone.
 */
import type { Definition, DefinitionColumn, DefinitionRule, DefinitionSchema } from "./definition.ts";
import { schemaOf } from "./definition.ts";

const INTRODUCTION = `# CoordinationCluster

<!-- Written by \`npm run docs:reference\` from the definition; \`npm run check\` refuses it when it is not current. -->

A CoordinationCluster says what a cluster is to be, in \`spec\`; the operator says what it is, in \`status\`. The
[quick start](quick-start.md) begins with one, and [operations](operations.md) says what conditions and reasons mean and what
to do about them. \`kubectl explain qc.spec\` says the same, field by field.
`;

const BACKUP_INTRODUCTION = `# Kinds of backups

<!-- Written by \`npm run docs:reference\` from the definitions; \`npm run check\` refuses it when it is not current. -->

A CoordinationBackupStore is a place for backups. A CoordinationCluster names it in \`spec.backup\`. A CoordinationBackup is one
backup of a cluster, and a CoordinationBackupSchedule makes them. All objects are in the namespace of the cluster.
[Operations](operations.md#backups-on-kubernetes) says how to use them. A field that you leave out keeps its default.
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
  /** Below the specification or the status, with dots; \`[]\` stands for each item of a list. */
  readonly path: string;
  readonly schema: DefinitionSchema;
  /** What holds if nobody says otherwise, also where it is written at a field above; undefined = nothing. */
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
    `\`${names.shortNames.join("`, `")}\`, also found by the category \`${names.categories.join("`, `")}\`. Only \`spec\` must be there, and it may be empty:\n`,
    EXAMPLE,
    "## Specification\n",
    "A field that you leave out keeps its default. `.` leads into an object, `[]` to each item of a list.\n",
    specTable(root),
    "## What is refused\n",
    "By the API server, beside values that are not of the type above, with the message that is written here:\n",
    ruleTable(root),
    "## Status\n",
    statusTable(root),
    "## Columns of `kubectl get qc`\n",
    "Those with _wide_ are shown with `-o wide`.\n",
    columnTable(definition),
  ].join("\n");
}

/** @param definitions of the kinds for backups */
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
    "The API server refuses, beside values that are not of the type above:\n",
    ruleTable(root),
    "The operator writes:\n",
    statusTable(root),
    `\`kubectl get ${short}\` shows, and those with _wide_ with \`-o wide\`:\n`,
    columnTable(definition),
  ];
}

function specTable(root: DefinitionSchema): string {
  return tableOf(["Field", "Type", "Default", "Meaning"], sectionOf(root, "spec").map(specRow));
}

function ruleTable(root: DefinitionSchema): string {
  return tableOf(
    ["At", "When", "Message"],
    rulesOf(root, "").map(({ path, rule, message }) => [
      `\`${path}\``,
      rule.includes("oldSelf") ? "change" : "always",
      message,
    ]),
  );
}

function statusTable(root: DefinitionSchema): string {
  return tableOf(
    ["Field", "Type", "Meaning"],
    sectionOf(root, "status").map(({ path, schema }) => [`\`${path}\``, typeOf(schema), meaningOf(schema)]),
  );
}

function columnTable(definition: Definition): string {
  const columns = definition.spec.versions[0]?.additionalPrinterColumns ?? [];
  return tableOf(["Column", "From", "Meaning"], columns.map(columnRow));
}

function sectionOf(root: DefinitionSchema, name: "spec" | "status"): Field[] {
  const section = root.properties?.[name] ?? {};
  return fieldsBelow(name, section, section.default);
}

/** Each object before what is in it; none of what is in a kind of Kubernetes that is kept whole. Objects that say nothing themselves but what they hold are left out. */
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

/** Of items that say what they are, such as a kind of Kubernetes, no field is listed. */
function fieldsOfItems(path: string, items: DefinitionSchema): Field[] {
  return items.description === undefined ? fieldsBelow(`${path}[]`, items, undefined) : [];
}

/** The default of an object is told at its fields. */
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

/** Rules with where they stand, those of an object before those of what is in it. */
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

/** Laid out as the formatter of the repository does it. A bar would end a cell. */
function tableOf(title: Row, rows: readonly Row[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = title.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const lines = [title, widths.map((width) => "-".repeat(width)), ...cells];
  return lines.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`).join("");
}

function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
