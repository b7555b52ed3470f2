/**
 * The declaration of a route: its input, its access and its answers. `RouteServer` does everything that routes have in
 * common, in the order of the contract. The OpenAPI document is generated from the same declarations, so that the two
 * always agree.
 *
 * A file of routes exports a function that returns a list of them, each made by `route`.
 */

import type * as z from "zod";
import type { RateLimiter } from "../../../access/index.ts";
import type { Access } from "../../../state/index.ts";
import type { ResponseStream } from "../../methods/index.ts";
import type { HttpErrorCode, StoredFile } from "../answers/index.ts";
import type { HttpCall, JsonSchema, Parameters, ParameterValues } from "../requests/index.ts";

export type RouteMethod = "GET" | "POST" | "PATCH" | "DELETE";

/**
 * The callers that may use a route: any client without a token, a client with any token, or a client whose user has at
 * least this access, in any namespace. The handler checks access to the resource (`call.authorize`).
 */
export type RouteAccess = "none" | "token" | Access;

/** The body that a route takes. A route without a body ignores a body in the request. */
export type RouteBody<Value> =
  | { readonly mode: "none" }
  | { readonly mode: "json"; readonly bytesMax: number; readonly schema: z.ZodType<Value> }
  | { readonly mode: "bytes"; readonly bytesMax: number; readonly description: string };

/** The input of a handler; everything is read and checked by the declaration. */
export interface RouteInput<Path, Headers, Query, Body> {
  readonly path: ParameterValues<Path>;
  readonly headers: ParameterValues<Headers>;
  readonly query: ParameterValues<Query>;
  /** The media type of the route that the client prefers; the route's first one if the client names none. */
  readonly mediaType: string;
  readonly body: Body;
}

/** The answer of a handler. A handler throws errors: CoordinationError or HttpError; any other error is a bug. */
export type Answer<Json> =
  | JsonAnswer<Json>
  | { readonly text: string; readonly type: string; readonly status?: number; readonly headers?: AnswerHeaders }
  /** A document that is the same for everybody. */
  | { readonly file: StoredFile; readonly headers?: AnswerHeaders }
  /**
   * A stream, which lasts until the client leaves or `fail` is called; the deadline no longer applies. An error while
   * it opens is answered like any other error.
   */
  | { readonly stream: (stream: ResponseStream) => void; readonly type: string; readonly headers?: AnswerHeaders };

export interface JsonAnswer<Json> {
  readonly json: Json;
  readonly headers?: AnswerHeaders;
}

export type AnswerHeaders = Readonly<Record<string, string>>;

/** The answer of a route on success. */
export interface RouteSuccess<Json> {
  readonly status: 200 | 201;
  readonly description: string;
  /** The schema of a JSON answer. */
  readonly schema?: z.ZodType<Json>;
  /** Other media types of the answer, in this order of preference after JSON, unless the client prefers another. */
  readonly types?: readonly string[];
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
}

export interface RouteDeclaration<
  Path extends Parameters,
  Headers extends Parameters,
  Query extends Parameters,
  Body,
  Json,
  Found,
> {
  readonly method: RouteMethod;
  /** In the form of OpenAPI, such as /logs/{log_id}/append. */
  readonly path: string;
  /** In lower camel case; unique. */
  readonly operationId: string;
  readonly summary: string;
  readonly access: RouteAccess;
  /** The path parameter that names a user. If it names the caller, any token is enough. */
  readonly ownUser?: keyof Path & string;
  readonly pathParameters?: Path;
  readonly headers?: Headers;
  readonly query?: Query;
  readonly body?: RouteBody<Body>;
  readonly success: RouteSuccess<Json>;
  /** Error codes in addition to those that follow from the rest of the declaration. */
  readonly errors?: readonly HttpErrorCode[];
  /** Whether caches must not store the answer, because it is secret or soon out of date. */
  readonly isSecret?: boolean;
  /** Whether it changes nothing although it is not a GET: a request without an answer in time was not executed. */
  readonly isSafe?: boolean;
  /** Milliseconds from the end of the body to the answer; 10,000 by default. */
  readonly deadlineMs?: (input: RouteInput<Path, Headers, Query, undefined>) => number;
  /** Limits the requests of each client address, on a route without a token. */
  readonly addressLimiter?: RateLimiter;
  /** Whether the route limits refused requests by itself, so that they do not count against the connection. */
  readonly limitsFailures?: boolean;
  /** Finds what the handler needs, before the body is read. Throws a refusal, for example for a missing resource. */
  readonly find?: (call: HttpCall, input: RouteInput<Path, Headers, Query, undefined>) => Found | Promise<Found>;
  /** `found` is the result of `find`. */
  readonly handle: (
    call: HttpCall,
    input: RouteInput<Path, Headers, Query, Body>,
    found: Found,
  ) => Answer<Json> | Promise<Answer<Json>>;
}

/** A declared route with any input. */
export type Route = RouteDeclaration<Parameters, Parameters, Parameters, unknown, unknown, unknown>;

/** Declares a route. */
export function route<
  Path extends Parameters = Record<never, never>,
  Headers extends Parameters = Record<never, never>,
  Query extends Parameters = Record<never, never>,
  Body = undefined,
  Json = unknown,
  Found = undefined,
>(declaration: RouteDeclaration<Path, Headers, Query, Body, Json, Found>): Route {
  // The cast is sound: a route gets only input that was read by its own declaration.
  return declaration as unknown as Route;
}

/** Whether a request to the route never executes anything, whatever its outcome (RFC 9110, section 9.2.1). */
export function changesNothing({ method, isSafe = false }: Route): boolean {
  return method === "GET" || isSafe;
}

/** A JSON body: an object of this schema. */
export function jsonBody<Value>(schema: z.ZodType<Value>): RouteBody<Value> {
  return { mode: "json", bytesMax: JSON_BYTES_MAX, schema };
}

/** A body of at most `bytesMax` bytes of any kind. */
export function bytesBody(description: string, bytesMax: number): RouteBody<Buffer> {
  return { mode: "bytes", bytesMax, description };
}

/** Far above the size of any real body. */
const JSON_BYTES_MAX = 64 * 1024;
