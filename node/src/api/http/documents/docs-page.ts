/**
 * GET /docs: the OpenAPI document as one page for people. The member makes it from the document that it serves. The page
 * has no script, no image and nothing from another place, and its policy allows nothing but its own style.
 */

import { createHash } from "node:crypto";
import { compressedFile, type StoredFile } from "../answers/index.ts";
import { type Route, route } from "../routing/index.ts";
import type { OpenApiDocument } from "./openapi-document.ts";

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a404b); --soft: light-dark(#f4f6f9, #1c2027);
  --link: light-dark(#0b57a4, #7db8f5); }
body { margin: 0; display: grid; grid-template-columns: minmax(15rem, 20rem) minmax(0, 1fr);
  font: 16px/1.5 system-ui, sans-serif; background: light-dark(#fff, #14171c); color: light-dark(#1b1f26, #e4e7ec); }
nav { position: sticky; top: 0; max-height: 100vh; overflow: auto; padding: 1rem; box-sizing: border-box;
  border-right: 1px solid var(--line); font-size: .875rem; }
nav h2 { font-size: .875rem; margin: 1rem 0 .25rem; border: 0; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
main { padding: 1rem 2rem 4rem; max-width: 60rem; }
a { color: var(--link); }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3 { margin-top: 2.5rem; font-size: 1.05rem; overflow-wrap: anywhere; }
code, pre { font: .875rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: .75rem; overflow: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
th { background: var(--soft); }
summary { cursor: pointer; margin: .75rem 0; font-weight: 600; }
@media (max-width: 60rem) { body { display: block; } nav { position: static; max-height: 16rem; } }
`;
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const INTRODUCTION =
  "Every member takes every request. Requests need the header `Authorization: Bearer TOKEN`, unless they say that they " +
  "need no token; `POST /auth/token` returns one for an API key. `GET /openapi.json` is this page for programs.";
const COMMAND = `curl -s http://127.0.0.1:7401/coordination.v1.KeyValueService/GetKey \\
  -H "Authorization: Bearer $TOKEN" --json '{"namespace": "default", "key": "greeting"}'`;
/** Messages within messages are shown up to this depth. */
const DEPTH_MAX = 3;
const SUCCESS = /^2/;

interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly object[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

/** Names a part of the components. */
interface Reference {
  readonly $ref: string;
}

interface Response {
  readonly description: string;
  readonly content?: Content;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly responses: Readonly<Record<string, Response>>;
}

/** An operation with its place. */
interface Entry {
  readonly path: string;
  readonly verb: string;
  readonly operation: Operation;
}

/** The route of the page. It is made once, when a client first wants it. */
export function docsRoute(describe: () => OpenApiDocument): Route {
  let page: Promise<StoredFile> | undefined;
  return route({
    method: "GET",
    path: "/docs",
    operationId: "getDocs",
    summary: "This document as a page",
    access: "none",
    success: { status: 200, description: "A page in HTML", types: ["text/html"] },
    handle: async () => {
      page ??= compressedFile("text/html; charset=utf-8", docsPage(describe()));
      return { file: await page, headers: { "Content-Security-Policy": POLICY } };
    },
  });
}

/** Returns the page. */
export function docsPage(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([verb, operation]): Entry => ({ path, verb: verb.toUpperCase(), operation: operation as unknown as Operation }),
    ),
  );
  const groups = [...Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? "")];
  const descriptions = new Map(document.tags.map(({ name, description }) => [name, description]));
  const components = document.components as unknown as Components;
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Quoin API</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<style>${STYLE}</style></head><body><nav aria-label="Operations"><strong>Quoin API</strong>`,
    ...groups.map(([name, some]) => `<h2>${escaped(name)}</h2><ul>${some.map(navigationItem).join("")}</ul>`),
    "</nav><main><h1>Quoin API</h1>",
    `<p>${inline(INTRODUCTION)}</p><pre>${escaped(COMMAND)}</pre>`,
    ...groups.map(([name, some]) =>
      [
        `<h2>${escaped(name)}</h2><p>${inline(descriptions.get(name) ?? "")}</p>`,
        ...some.map((entry) => section(entry, components)),
      ].join(""),
    ),
    "</main></body></html>\n",
  ].join("\n");
}

function navigationItem({ operation: { operationId } }: Entry): string {
  return `<li><a href="#${escaped(operationId)}">${escaped(operationId.replace(/^.*\./, ""))}</a></li>`;
}

function section({ path, verb, operation }: Entry, components: Components): string {
  const { operationId, summary, description = `${summary}.`, requestBody } = operation;
  const parameters = (operation.parameters ?? []).map((each) => resolved(each, components.parameters));
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolved(response, components.responses)] as const,
  );
  const [status = "", success] = responses.find(([code]) => SUCCESS.test(code)) ?? [];
  const token = operation.security.length > 0 ? "" : " <em>No token is needed.</em>";
  return [
    `<section id="${escaped(operationId)}"><h3>${verb} <code>${escaped(path)}</code></h3>`,
    `<p>${inline(description)}${token}</p>`,
    parameters.length === 0 ? "" : details("Parameters", parameterTable(parameters)),
    ...contentText("Request", requestBody?.content ?? {}, components),
    ...contentText(`Answer ${status}`, success?.content ?? {}, components),
    details("Errors", errorTable(responses)),
    "</section>",
  ].join("");
}

function contentText(title: string, content: Content, { schemas }: Components): string[] {
  return Object.entries(content).map(([type, { schema, example }]) => {
    const rows = fieldRows(schema, schemas, "", 0);
    const fields = rows.length === 0 ? "" : table(["Field", "Type", "Meaning"], rows);
    const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
    return [
      `<h4>${escaped(title)}: <code>${escaped(type)}</code></h4>`,
      fields,
      example === undefined ? "" : `<pre>${escaped(text)}</pre>`,
    ].join("");
  });
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: place, required, schema, description }) => [
    `<code>${escaped(name)}</code>${required ? " (required)" : ""}`,
    escaped(place),
    typeText(schema),
    inline(description),
  ]);
  return table(["Parameter", "In", "Type", "Meaning"], rows);
}

function errorTable(responses: readonly (readonly [string, Response])[]): string {
  const failures = responses.filter(([status]) => !SUCCESS.test(status));
  return table(
    ["Status", "Codes"],
    failures.map(([status, { description }]) => [status, escaped(description)]),
  );
}

/** A row for each field, also for those of inner messages. */
function fieldRows(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  prefix: string,
  depth: number,
): readonly string[][] {
  return Object.entries(resolved(schema, schemas).properties ?? {}).flatMap(([name, field]) => {
    const row = [`<code>${escaped(prefix + name)}</code>`, typeText(field), inline(field.description ?? "")];
    const inner = field.items ?? field.anyOf?.find(({ type }) => type !== "null") ?? field;
    const below = `${prefix}${name}${field.items === undefined ? "." : "[]."}`;
    return [row, ...(depth < DEPTH_MAX ? fieldRows(inner, schemas, below, depth + 1) : [])];
  });
}

/** The part itself, or the one that it names. */
function resolved<Part extends object>(part: Part | Reference, named: Readonly<Record<string, Part>>): Part {
  const $ref = "$ref" in part ? part.$ref : undefined;
  return (typeof $ref === "string" ? named[$ref.slice($ref.lastIndexOf("/") + 1)] : undefined) ?? (part as Part);
}

function typeText({ $ref, type, format, contentEncoding, enum: values, items, anyOf }: Schema): string {
  if ($ref !== undefined) {
    return escaped($ref.slice($ref.lastIndexOf(".") + 1));
  }
  if (values !== undefined) {
    return values.map((value) => `<code>${escaped(String(value))}</code>`).join(", ");
  }
  if (items !== undefined) {
    return `list of ${typeText(items)}`;
  }
  if (anyOf !== undefined) {
    return anyOf.map(typeText).join(" or ");
  }
  const name = [type ?? "any value"].flat().join(" or ");
  const detail = contentEncoding ?? format;
  return escaped(detail === undefined ? name : `${name} (${detail})`);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = titles.map((title) => `<th scope="col">${title}</th>`).join("");
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("");
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function details(title: string, content: string): string {
  return `<details><summary>${title}</summary>${content}</details>`;
}

/** Text with names in backticks and with paragraphs. */
function inline(text: string): string {
  return escaped(text)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll("\n\n", "<br><br>");
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] as string);
}
