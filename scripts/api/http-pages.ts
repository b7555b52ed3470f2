/** The pages about HTTP, from the OpenAPI document that members serve. */

import { examplesOf } from "./example-text.ts";
import { anchorOf, table } from "./markdown.ts";

/** The parts of an OpenAPI document that the pages show. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly description?: string; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
}

interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, { readonly description?: string }>>;
  readonly content: Content;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
}

/** The pages by name, and the paths that each describes: the first rule that matches. */
export const HTTP_PAGES: readonly { readonly page: string; readonly title: string; readonly paths: RegExp }[] = [
  { page: "http-watches", title: "Watches over HTTP", paths: /^\/v1\/watch\// },
  { page: "http-logs", title: "Event logs", paths: /^\/logs/ },
  { page: "http-accounts", title: "Tokens, API keys, users and usage", paths: /^\/(auth|keys|users|billing)|jwks/ },
  { page: "http-health", title: "Health, metrics and description", paths: /^\// },
];

/** Above it, a bound only says that the value is exact. */
const INTEGER_MAX = 2 ** 53 - 1;
const SUCCESS = /^2/;

/** The text of each page, by its name without folder and ending. */
export function httpPages({ paths }: OpenApiDocument): ReadonlyMap<string, string> {
  const pageOf = (path: string) => HTTP_PAGES.find((one) => one.paths.test(path));
  return new Map(
    HTTP_PAGES.map((page) => {
      const sections = Object.entries(paths)
        .filter(([path]) => !isMethod(path))
        .filter(([path]) => pageOf(path) === page)
        .flatMap(([path, operations]) =>
          Object.entries(operations).map(([method, operation]) => section(method.toUpperCase(), path, operation)),
        );
      return [
        page.page,
        [
          `# ${page.title}\n`,
          "<!-- Generated from openapi.json by `npm run docs:api`; `npm run check` fails if it is stale. -->\n",
          "These are requests over HTTP. The [overview](README.md) explains the commands, and what all requests have in common.\n",
          ...sections,
        ].join("\n"),
      ];
    }),
  );
}

/** Whether a path is a method of a service, which the pages of gRPC describe. */
export function isMethod(path: string): boolean {
  return path.startsWith("/coordination.v1.");
}

function section(method: string, path: string, operation: Operation): string {
  const { operationId, summary, security, parameters = [], requestBody, responses } = operation;
  const [status = "", success] = Object.entries(responses).find(([code]) => SUCCESS.test(code)) ?? [];
  if (success === undefined) {
    throw new Error(`${operationId} has no successful answer`);
  }
  return [
    `## ${method} ${path}\n`,
    `${summary}. ${security.length > 0 ? "The request needs an access token." : "The request needs no token."}\n`,
    ...(parameters.length === 0 ? [] : [`**Parameters**\n\n${parameterTable(parameters)}`]),
    ...(requestBody === undefined ? [] : [bodyText("Body", requestBody.description, requestBody.content)]),
    bodyText(`Answer ${status}`, success.description, success.content),
    ...headerText(success),
    `**Errors**\n\n${errorTable(responses)}`,
    examplesOf(operationId),
  ].join("\n");
}

function parameterTable(parameters: readonly Parameter[]): string {
  return table(
    ["Parameter", "In", "Type", "Required", "Meaning"],
    parameters.map((parameter) => [
      `\`${parameter.name}\``,
      parameter.in,
      typeOf(parameter.schema),
      parameter.required ? "yes" : "no",
      parameter.description,
    ]),
  );
}

function bodyText(what: string, description: string | undefined, content: Content): string {
  const json = content["application/json"];
  const types = Object.keys(content).map((type) => `\`${type}\``);
  const intro = `**${what}:** ${description === undefined ? "" : `${description}. `}${types.join(" or ")}\n`;
  const fields = json === undefined ? [] : fieldsOf(json.schema, "");
  return fields.length === 0 ? intro : `${intro}\n${table(["Field", "Type", "Required", "Meaning"], fields)}`;
}

function headerText({ headers }: Response): string[] {
  return Object.entries(headers)
    .filter(([name, { description }]) => name !== "API-Version" && description !== undefined)
    .map(([name, { description }]) => `Header \`${name}\`: ${description}.\n`);
}

/** The codes of errors by status. */
function errorTable(responses: Readonly<Record<string, Response>>): string {
  const rows = Object.entries(responses)
    .filter(([status]) => !SUCCESS.test(status))
    .map(([status, { description }]) => [
      status,
      description
        .split(", ")
        .map((code) => `\`${code}\``)
        .join(", "),
    ]);
  return table(["Status", "Codes"], rows);
}

/** A row for each field, also for those of inner objects and of the objects in lists. */
function fieldsOf(schema: Schema, prefix: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const row = [
      `\`${path}\``,
      typeOf(field),
      schema.required?.includes(name) === true ? "yes" : "no",
      descriptionOf(field),
    ];
    const inner = withoutNull(field);
    return [row, ...fieldsOf(inner, `${path}.`), ...fieldsOf(withoutNull(inner.items ?? {}), `${path}[].`)];
  });
}

/** The schema of a value that may also be null. */
function withoutNull(schema: Schema): Schema {
  return schema.anyOf?.find(({ type }) => type !== "null") ?? schema;
}

function descriptionOf(schema: Schema): string {
  return schema.description ?? withoutNull(schema).description ?? "";
}

function typeOf(schema: Schema): string {
  if (schema.anyOf !== undefined) {
    return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  }
  if (Array.isArray(schema.type)) {
    return schema.type.map((type: string) => typeOf({ ...schema, type })).join(" or ");
  }
  if (schema.const !== undefined) {
    return `\`${JSON.stringify(schema.const)}\``;
  }
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  }
  switch (schema.type) {
    case "array":
      return `list of ${typeOf(schema.items ?? {})}`;
    case "integer":
      return `integer${boundsOf(schema.minimum, schema.maximum, "")}`;
    case "string":
      return `${formatOf(schema)}${boundsOf(schema.minLength, schema.maxLength, " characters")}`;
    default:
      return String(schema.type ?? "any value");
  }
}

function formatOf({ format, contentEncoding }: Schema): string {
  const names: Readonly<Record<string, string>> = {
    uuid: "UUID",
    "date-time": "time",
    "idn-email": "e-mail address",
    binary: "bytes",
  };
  return contentEncoding === undefined ? (names[format ?? ""] ?? "string") : `string in ${contentEncoding}`;
}

function boundsOf(minimum: number | undefined, maximum: number | undefined, unit: string): string {
  const isBounded = maximum !== undefined && maximum < INTEGER_MAX;
  if (minimum === undefined) {
    return isBounded ? `, at most ${maximum}${unit}` : "";
  }
  return isBounded ? `, ${minimum} to ${maximum}${unit}` : `, at least ${minimum}${unit}`;
}

/** The link to an operation, from a page of the same folder. */
export function operationLink(method: string, path: string): string {
  const page = HTTP_PAGES.find(({ paths }) => paths.test(path))?.page ?? "";
  return `[\`${method} ${path}\`](${page}.md#${anchorOf(`${method} ${path}`)})`;
}
