/**
 * The parameters of a request as its route declares them. The first that is not as it must be is refused, with its name:
 * those of the path first, then headers, then the query. What is not declared is ignored.
 */

import type { Request } from "express";
import { HttpError, type HttpErrorCode } from "./http-error.ts";
import { type Parameter, ParameterProblem, type Parameters } from "./parameters.ts";
import type { Route, RouteInput } from "./route.ts";
import { decodePercent, parseQuery, splitTarget } from "./url-encoding.ts";

const JSON_TYPE = "application/json";

/** All values that a request has for a parameter; null = not to be decoded. */
type Given = readonly (Buffer | null)[];

/** Raises invalid_request for path and query, invalid_header for headers, or the parameter's own code. */
export function readInput(route: Route, request: Request): RouteInput<Parameters, Parameters, Parameters, undefined> {
  return {
    path: readAll(route.pathParameters, "invalid_request", (name) => [decodePercent(String(request.params[name]))]),
    headers: readAll(route.headers, "invalid_header", (name) => headerValues(request, name)),
    query: readQuery(route.query, request),
    mediaType: mediaTypeOf(route, request),
    body: undefined,
  };
}

/** Nobody is refused for what they accept: who wants nothing of what there is gets the usual. */
function mediaTypeOf({ success: { schema, types = [] } }: Route, request: Request): string {
  const [usual = "", ...others] = [...(schema === undefined ? [] : [JSON_TYPE]), ...types];
  return request.accepts([usual, ...others]) || usual;
}

function readQuery(parameters: Parameters | undefined, request: Request): Readonly<Record<string, unknown>> {
  if (parameters === undefined) {
    return {};
  }
  const values = parseQuery(splitTarget(request).query);
  return readAll(parameters, "invalid_request", (name) => values.get(name) ?? []);
}

/** Values of a header that must be there once: a repeated one is several, whatever Node makes of it. */
function headerValues(request: Request, name: string): Given {
  const values = request.headersDistinct[name.toLowerCase()] ?? [];
  return values.map((value) => Buffer.from(value, "latin1"));
}

function readAll(
  parameters: Parameters | undefined,
  badCode: HttpErrorCode,
  given: (name: string) => Given,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters ?? {})) {
    values[name] = readOne(name, parameter, parameter.badCode ?? badCode, given(name));
  }
  return values;
}

function readOne(name: string, parameter: Parameter<unknown>, badCode: HttpErrorCode, given: Given): unknown {
  const [value] = given;
  if (given.length > 1) {
    throw new HttpError(badCode, `${name} is there ${given.length} times: send it once`);
  }
  if (value === null) {
    throw new HttpError(badCode, `${name} is not percent-encoded as it must be`);
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
