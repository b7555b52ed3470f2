/** GET /openapi.json: the interface as an OpenAPI 3.1 document, generated from the declarations of its routes. */

import { z } from "zod";
import { type HttpErrorCode, statusOf } from "./http-error.ts";
import type { JsonSchema, Parameters } from "./parameters.ts";
import { changesNothing, type Route, type RouteSuccess, route } from "./route.ts";

const ERROR_SCHEMA = "Error";
const BEARER = "bearer";
const API_VERSION_HEADER = { description: "The version of the interface", schema: { type: "string", const: "v1" } };
const ErrorBody = z.object({
  error: z.string().min(1).describe("What went wrong, for people"),
  code: z.string().min(1).describe("What went wrong, for programs"),
});

/** Headers by status, besides those of every answer. */
const ERROR_HEADERS: ReadonlyMap<number, readonly (readonly [string, JsonSchema])[]> = new Map([
  [401, [["WWW-Authenticate", { type: "string" }]]],
  [405, [["Allow", { type: "string" }]]],
  [409, [["Last-Sequence", { type: "integer", minimum: 0 }]]],
  [410, [["Compact-Revision", { type: "integer", minimum: 0 }]]],
  [429, [["Retry-After", { type: "integer", minimum: 1 }]]],
  [503, [["Retry-After", { type: "integer", minimum: 1 }]]],
]);

/** The route that serves the document of all routes, including itself. */
export function openApiRoute(routes: readonly Route[]): Route {
  const document: { json: JsonSchema } = { json: {} };
  const own = route({
    method: "GET",
    path: "/openapi.json",
    operationId: "getOpenApiDocument",
    summary: "This document",
    access: "none",
    success: { status: 200, description: "An OpenAPI 3.1 document", schema: z.record(z.string(), z.unknown()) },
    handle: () => document,
  });
  document.json = openApiDocument([...routes, own]);
  return own;
}

function openApiDocument(routes: readonly Route[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Quoin",
      version: "v1",
      description: "Tokens, API keys and event logs of a Quoin cluster. Any member answers.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      schemas: { [ERROR_SCHEMA]: schemaOf(ErrorBody, "output") },
      securitySchemes: { [BEARER]: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    },
  };
}

function operation(route: Route): JsonSchema {
  const parameters = [
    ...parametersIn("path", route.pathParameters),
    ...parametersIn("header", route.headers),
    ...parametersIn("query", route.query),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    security: route.access === "none" ? [] : [{ [BEARER]: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(route),
    responses: { [route.success.status]: success(route.success), ...errors(route) },
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

function requestBody({ body }: Route): JsonSchema {
  switch (body?.mode) {
    case "json":
      return {
        requestBody: { required: true, content: { "application/json": { schema: schemaOf(body.schema, "input") } } },
      };
    case "bytes":
      return {
        requestBody: {
          description: body.description,
          required: true,
          content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
        },
      };
    default:
      return {};
  }
}

function success({ description, schema, types = [], headers = {} }: RouteSuccess<unknown>): JsonSchema {
  const json = schema === undefined ? {} : { "application/json": { schema: schemaOf(schema, "output") } };
  const others = types.map((type) => [type, { schema: { type: "string" } }]);
  return {
    description,
    headers: { "API-Version": API_VERSION_HEADER, ...headers },
    content: { ...json, ...Object.fromEntries(others) },
  };
}

function errors(route: Route): Record<string, JsonSchema> {
  const responses: Record<string, JsonSchema> = {};
  for (const [status, codes] of Map.groupBy(errorCodes(route), statusOf)) {
    const headers = (ERROR_HEADERS.get(status) ?? []).map(([name, schema]) => [name, { schema }]);
    const texts = (route.success.types ?? []).filter((type) => type === "text/plain" && status === 503);
    responses[status] = {
      description: codes.join(", "),
      headers: { "API-Version": API_VERSION_HEADER, ...Object.fromEntries(headers) },
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
