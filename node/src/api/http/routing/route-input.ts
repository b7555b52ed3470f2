/**
 * Reads the parameters of a request by the declaration of its route: first the path, then headers, then the query. The
 * first bad parameter is refused by name. A parameter of the query that is not declared may be a misspelt one that is
 * missing: then the refusal has the code of the missing one, and names the other. Other headers are ignored.
 */

import { unknownName } from "@quoin/proto";
import type { Request } from "express";
import { beginningOf } from "../../../primitives/index.ts";
import { decodePercent, HttpError, type OwnHttpErrorCode, parseQuery, splitTarget } from "../answers/index.ts";
import { type Parameter, ParameterProblem, type Parameters } from "../requests/index.ts";
import type { Route, RouteInput } from "./route.ts";

const JSON_TYPE = "application/json";

/** All values that a request has for a parameter; null = it cannot be decoded. */
type Given = readonly (Buffer | null)[];

/** Throws invalid_request for path and query, invalid_header for headers, or the parameter's own code. */
export function readInput(route: Route, request: Request): RouteInput<Parameters, Parameters, Parameters, undefined> {
  return {
    path: readAll(route.pathParameters, "invalid_request", (name) => [decodePercent(String(request.params[name]))]),
    headers: readAll(route.headers, "invalid_header", (name) => headerValues(request, name)),
    query: readQuery(route.query ?? {}, request),
    mediaType: mediaTypeOf(route, request),
    body: undefined,
  };
}

/** The Accept header never causes a refusal: a client that accepts none of the types gets the default type. */
function mediaTypeOf({ success: { schema, types = [] } }: Route, request: Request): string {
  const [usual = "", ...others] = [...(schema === undefined ? [] : [JSON_TYPE]), ...types];
  return request.accepts([usual, ...others]) || usual;
}

function readQuery(declared: Parameters, request: Request): Readonly<Record<string, unknown>> {
  const values = parseQuery(splitTarget(request).query);
  const unknown = values.keys().find((name) => !Object.hasOwn(declared, name));
  const missing = Object.entries(declared).find(([name, { isRequired }]) => isRequired && !values.has(name));
  if (unknown !== undefined) {
    const problem = unknownName(unknown, "the query", Object.keys(declared));
    const { missingCode, badCode = "invalid_request" } = missing?.[1] ?? {};
    throw new HttpError(missingCode ?? badCode, `${beginningOf(unknown)} ${problem}`);
  }
  return readAll(declared, "invalid_request", (name) => values.get(name) ?? []);
}

/** All values of a header, so that a repeated header is recognised even if Node would join or drop values. */
function headerValues(request: Request, name: string): Given {
  const values = request.headersDistinct[name.toLowerCase()] ?? [];
  return values.map((value) => Buffer.from(value, "latin1"));
}

function readAll(
  parameters: Parameters | undefined,
  badCode: OwnHttpErrorCode,
  given: (name: string) => Given,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters ?? {})) {
    values[name] = readOne(name, parameter, parameter.badCode ?? badCode, given(name));
  }
  return values;
}

function readOne(name: string, parameter: Parameter<unknown>, badCode: OwnHttpErrorCode, given: Given): unknown {
  const [value] = given;
  if (given.length > 1) {
    throw new HttpError(badCode, `${name} is given ${given.length} times: send it once`);
  }
  if (value === null) {
    throw new HttpError(badCode, `${name} is not validly percent-encoded`);
  }
  try {
    return parameter.read(value);
  } catch (error) {
    if (!(error instanceof ParameterProblem)) {
      throw error;
    }
    const code = value === undefined ? (parameter.missingCode ?? badCode) : badCode;
    throw new HttpError(code, `${name} ${error.message}`);
  }
}
