/**
 * GET /openapi.json: the interface as an OpenAPI 3.1 document, generated from the declarations of its routes and from
 * the methods of the services.
 */

import * as z from "zod";
import { compressedFile, type HttpErrorCode, REASON_HEADER, type StoredFile, statusOf } from "../answers/index.ts";
import type { JsonSchema, Parameters } from "../requests/index.ts";
import { changesNothing, type Route, type RouteSuccess, route } from "../routing/index.ts";
import { docsRoute } from "./docs-page.ts";
import type { OpenApiDocument, ServiceDocument } from "./openapi-document.ts";
import { type OperationExample, readReference } from "./reference.ts";

/** The tags of routes, each with its paths: the first that matches. */
const ROUTE_TAGS: readonly (readonly [string, RegExp, string])[] = [
  ["Watches over HTTP", /^\/v1\/watch\//, "Changes of keys and locks as server-sent events."],
  ["Event logs", /^\/logs/, "Append-only logs of events."],
  ["Accounts", /^\/(auth|keys|users|billing)|jwks/, "Tokens, API keys, users and usage."],
  ["Health and description", /^\//, "Health checks, metrics, and this description."],
];
const ERROR_SCHEMA = "Error";
const BEARER = "bearer";
const API_VERSION_HEADER = { description: "The version of the interface", schema: { type: "string", const: "v1" } };
const ErrorBody = z.object({
  error: z.string().min(1).describe("What went wrong, for people"),
  code: z.string().min(1).describe("What went wrong, for programs"),
});

const REASON_HEADER_SCHEMA: JsonSchema = {
  description: "What went wrong, for programs, in the words of gRPC",
  schema: { type: "string" },
};

/** Headers by status, besides those of every answer. */
const ERROR_HEADERS: ReadonlyMap<number, readonly (readonly [string, JsonSchema])[]> = new Map([
  [401, [["WWW-Authenticate", { type: "string" }]]],
  [405, [["Allow", { type: "string" }]]],
  [409, [["Last-Sequence", { type: "integer", minimum: 0 }]]],
  [410, [["Compact-Revision", { type: "integer", minimum: 0 }]]],
  [429, [["Retry-After", { type: "integer", minimum: 1 }]]],
  [503, [["Retry-After", { type: "integer", minimum: 1 }]]],
]);

/** The routes that serve the document of all routes, including themselves: as JSON, and as a page for people. */
export function openApiRoutes(
  routes: readonly Route[],
  services: { describe(): ServiceDocument } | undefined,
): readonly Route[] {
  let document: OpenApiDocument | undefined;
  const describe = (): OpenApiDocument => {
    document ??= openApiDocument([...routes, ...own], services?.describe() ?? NO_SERVICES);
    return document;
  };
  const own = [documentRoute(describe), docsRoute(describe)];
  return own;
}

const NO_SERVICES: ServiceDocument = {
  paths: {},
  tags: [],
  components: { schemas: {}, parameters: {}, responses: {} },
};

/** The route of the document. It is made once, when a client first wants it. */
function documentRoute(describe: () => OpenApiDocument): Route {
  let file: Promise<StoredFile> | undefined;
  return route({
    method: "GET",
    path: "/openapi.json",
    operationId: "getOpenApiDocument",
    summary: "This document",
    access: "none",
    success: { status: 200, description: "An OpenAPI 3.1 document", schema: z.record(z.string(), z.unknown()) },
    handle: async () => {
      file ??= compressedFile("application/json; charset=utf-8", JSON.stringify(describe()));
      return { file: await file };
    },
  });
}

function openApiDocument(routes: readonly Route[], services: ServiceDocument): OpenApiDocument {
  const { operations: examples } = readReference();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const described = operation(route, examples[route.operationId]);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: described };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Quoin",
      version: "v1",
      description:
        "Keys and values, locks, memory regions, event logs, users and tokens of a Quoin cluster. Any member answers.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [...services.tags, ...ROUTE_TAGS.map(([name, , description]) => ({ name, description }))],
    paths: { ...services.paths, ...paths },
    components: {
      ...services.components,
      schemas: { [ERROR_SCHEMA]: schemaOf(ErrorBody, "output"), ...services.components.schemas },
      securitySchemes: { [BEARER]: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    },
  };
}

function operation(route: Route, example: OperationExample | undefined): JsonSchema {
  const parameters = [
    ...parametersIn("path", route.pathParameters),
    ...parametersIn("header", route.headers),
    ...parametersIn("query", route.query),
  ];
  return {
    operationId: route.operationId,
    tags: [ROUTE_TAGS.find(([, paths]) => paths.test(route.path))?.[0] ?? ""],
    summary: route.summary,
    security: route.access === "none" ? [] : [{ [BEARER]: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(route, example),
    responses: { [route.success.status]: success(route.success, example), ...errors(route) },
  };
}

function parametersIn(place: "path" | "header" | "query", parameters: Parameters = {}): JsonSchema[] {
  return Object.entries(parameters).map(([name, { description, schema, isRequired }]) => ({
    name,
    in: place,
    description,
    required: isRequired,
    schema,
  }));
}

function requestBody({ body }: Route, example: OperationExample | undefined): JsonSchema {
  switch (body?.mode) {
    case "json":
      return {
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: schemaOf(body.schema, "input"), ...exampleOf(example?.request.json) },
          },
        },
      };
    case "bytes":
      return {
        requestBody: {
          description: body.description,
          required: true,
          content: {
            "application/octet-stream": {
              schema: { type: "string", format: "binary" },
              ...exampleOf(example?.request.text),
            },
          },
        },
      };
    default:
      return {};
  }
}

function success(
  { description, schema, types = [], headers = {} }: RouteSuccess<unknown>,
  example: OperationExample | undefined,
): JsonSchema {
  const { json: exampleJson, text } = example?.answer ?? {};
  const json =
    schema === undefined
      ? {}
      : { "application/json": { schema: schemaOf(schema, "output"), ...exampleOf(exampleJson) } };
  const others = types.map((type) => [type, { schema: { type: "string" }, ...exampleOf(text) }]);
  return {
    description,
    headers: { "API-Version": API_VERSION_HEADER, ...headers },
    content: { ...json, ...Object.fromEntries(others) },
  };
}

function exampleOf(value: unknown): JsonSchema {
  return value === undefined ? {} : { example: value };
}

function errors(route: Route): Record<string, JsonSchema> {
  const responses: Record<string, JsonSchema> = {};
  for (const [status, codes] of Map.groupBy(errorCodes(route), statusOf)) {
    const headers = (ERROR_HEADERS.get(status) ?? []).map(([name, schema]) => [name, { schema }]);
    const texts = (route.success.types ?? []).filter((type) => type === "text/plain" && status === 503);
    responses[status] = {
      description: codes.join(", "),
      headers: {
        "API-Version": API_VERSION_HEADER,
        [REASON_HEADER]: REASON_HEADER_SCHEMA,
        ...Object.fromEntries(headers),
      },
      content: {
        "application/json": { schema: { $ref: `#/components/schemas/${ERROR_SCHEMA}` } },
        ...Object.fromEntries(texts.map((type) => [type, { schema: { type: "string" } }])),
      },
    };
  }
  return responses;
}

/** The error codes that follow from the declaration, and those that it names. */
function errorCodes(route: Route): readonly HttpErrorCode[] {
  const { access, addressLimiter, body, errors = [] } = route;
  const codes = new Set<HttpErrorCode>(["invalid_request", ...parameterCodes(route), ...errors]);
  if (access !== "none") {
    add(codes, ["unauthorized", "token_expired", "token_revoked"]);
  }
  if (access !== "none" || addressLimiter !== undefined) {
    add(codes, ["rate_limited"]);
  }
  if (access !== "none" && access !== "token") {
    add(codes, ["insufficient_role"]);
  }
  if (body !== undefined && body.mode !== "none") {
    add(codes, ["payload_too_large", "unsupported_media_type"]);
  }
  if (!changesNothing(route)) {
    add(codes, ["timeout"]);
  }
  return add(codes, ["internal_error", "unavailable"]);
}

function parameterCodes({ pathParameters = {}, headers = {}, query = {} }: Route): readonly HttpErrorCode[] {
  const parameters = [pathParameters, headers, query].flatMap((declared) => Object.values(declared));
  const own = parameters.flatMap(({ badCode = [], missingCode = [] }) => [badCode, missingCode].flat());
  return Object.values(headers).some(({ badCode }) => badCode === undefined) ? ["invalid_header", ...own] : own;
}

function add(codes: Set<HttpErrorCode>, more: readonly HttpErrorCode[]): readonly HttpErrorCode[] {
  for (const code of more) {
    codes.add(code);
  }
  return [...codes];
}

/** The schema without its dialect, which the document names once for all schemas. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}
