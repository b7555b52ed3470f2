/**
 * The declaration of a route: what it takes, who may use it, what it answers. Everything that routes have in common is
 * done for them, in the order of the contract (see `RouteServer`), and the OpenAPI document is made of the same
 * declarations, so neither can say what the other does not do.
 *
 * A file of routes exports a function that returns a list of them, each made by `route`.
 */

import type { z } from "zod";
import type { RateLimiter } from "../../access/index.ts";
import type { Access } from "../../state/index.ts";
import type { ResponseStream } from "../methods/index.ts";
import type { HttpCall } from "./http-call.ts";
import type { HttpErrorCode } from "./http-error.ts";
import type { JsonSchema, Parameters, ParameterValues } from "./parameters.ts";

export type RouteMethod = "GET" | "POST" | "PATCH" | "DELETE";

/**
 * Who may use a route: anybody without a token, the bearer of any token, or one whose user has at least this access in
 * no namespace in particular. What depends on the resource is for the handler to ask (`call.authorize`).
 */
export type RouteAccess = "none" | "token" | Access;

/** The body that a route takes. A route without one ignores what is sent. */
export type RouteBody<Value> =
  | { readonly mode: "none" }
  | { readonly mode: "json"; readonly bytesMax: number; readonly schema: z.ZodType<Value> }
  | { readonly mode: "bytes"; readonly bytesMax: number; readonly description: string };

/** What a handler is given: everything is read and checked by its declaration. */
export interface RouteInput<Path, Headers, Query, Body> {
  readonly path: ParameterValues<Path>;
  readonly headers: ParameterValues<Headers>;
  readonly query: ParameterValues<Query>;
  /** What the client would rather have of the media types that the route answers with; the first one if it has no say. */
  readonly mediaType: string;
  readonly body: Body;
}

/** What a handler answers. Errors are thrown: CoordinationError or HttpError; whatever else is thrown is a bug. */
export type Answer<Json> =
  | JsonAnswer<Json>
  | { readonly text: string; readonly type: string; readonly status?: number; readonly headers?: AnswerHeaders }
  /**
   * A stream, which lasts until the client leaves or `fail` is called, and is no longer bound by the deadline. What
   * opening it throws is answered as any other error.
   */
  | { readonly stream: (stream: ResponseStream) => void; readonly type: string; readonly headers?: AnswerHeaders };

export interface JsonAnswer<Json> {
  readonly json: Json;
  readonly headers?: AnswerHeaders;
}

export type AnswerHeaders = Readonly<Record<string, string>>;

/** How a route answers where it does what it was asked for. */
export interface RouteSuccess<Json> {
  readonly status: 200 | 201;
  readonly description: string;
  /** Of a JSON answer. */
  readonly schema?: z.ZodType<Json>;
  /** Other media types that it answers with, in this order behind JSON unless the client says otherwise. */
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
  /** As OpenAPI writes it, such as /logs/{log_id}/append. */
  readonly path: string;
  /** In lower camel case, unique. */
  readonly operationId: string;
  readonly summary: string;
  readonly access: RouteAccess;
  /** The path parameter that names a user. Users need no access, only a token, where it names themselves. */
  readonly ownUser?: keyof Path & string;
  readonly pathParameters?: Path;
  readonly headers?: Headers;
  readonly query?: Query;
  readonly body?: RouteBody<Body>;
  readonly success: RouteSuccess<Json>;
  /** Codes beside those that follow from the rest of the declaration. */
  readonly errors?: readonly HttpErrorCode[];
  /** Whether no cache may store what it answers, because it is secret or soon not true any more. */
  readonly isSecret?: boolean;
  /** Whether it changes nothing although it is no GET: what is not answered in time was not executed either. */
  readonly isSafe?: boolean;
  /** Milliseconds from the end of the body to the answer; 10,000 by default. */
  readonly deadlineMs?: (input: RouteInput<Path, Headers, Query, undefined>) => number;
  /** Counts the requests of each client, by address, where nobody is asked for a token. */
  readonly addressLimiter?: RateLimiter;
  /**
   * Looks before the body is read for what the handler needs, and raises what is refused, such as a resource that is
   * not there.
   */
  readonly find?: (call: HttpCall, input: RouteInput<Path, Headers, Query, undefined>) => Found | Promise<Found>;
  /** `found` is what `find` has returned. */
  readonly handle: (
    call: HttpCall,
    input: RouteInput<Path, Headers, Query, Body>,
    found: Found,
  ) => Answer<Json> | Promise<Answer<Json>>;
}

/** A declared route, whatever it takes. */
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
  // Sound because a route is served only with the input that its own declaration has read.
  return declaration as unknown as Route;
}

/** Whether nothing can have been executed, whatever became of a request (RFC 9110, section 9.2.1). */
export function changesNothing({ method, isSafe = false }: Route): boolean {
  return method === "GET" || isSafe;
}

/** A body of JSON, an object of this schema. */
export function jsonBody<Value>(schema: z.ZodType<Value>): RouteBody<Value> {
  return { mode: "json", bytesMax: JSON_BYTES_MAX, schema };
}

/** A body of any bytes, at most so many. */
export function bytesBody(description: string, bytesMax: number): RouteBody<Buffer> {
  return { mode: "bytes", bytesMax, description };
}

/** Far above any real body of the interface. */
const JSON_BYTES_MAX = 64 * 1024;
